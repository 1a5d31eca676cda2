import Foundation
import GodwitBase
import GodwitFiles

/// Which system calls a process may make from now on, as a program of seccomp(2) that the kernel runs at each. What is
/// not named fails with EPERM.
struct SystemCallFilter {
  /// What an argument must be. Only its low 32 bits are looked at: they are all that the kernel takes of a descriptor,
  /// a command or a process, and have all flags.
  enum Condition {
    case oneOf(Int, [UInt32])
    case lacks(Int, UInt32)
    case has(Int, UInt32)
  }

  enum Action {
    case allow
    case fail(Int32)
    /// Ends the process by SIGSYS.
    case kill

    fileprivate var value: UInt32 {
      switch self {
      case .allow: 0x7FFF_0000
      case .fail(let error): 0x0005_0000 | UInt32(truncatingIfNeeded: error)
      case .kill: 0x8000_0000
      }
    }
  }

  /// `struct sock_filter` of linux/filter.h.
  struct Instruction: Equatable {
    let code: UInt16
    let jumpTrue: UInt8
    let jumpFalse: UInt8
    let operand: UInt32

    static func load(_ offset: UInt32) -> Instruction {
      Instruction(code: 0x20, jumpTrue: 0, jumpFalse: 0, operand: offset)
    }

    static func end(_ action: Action) -> Instruction {
      Instruction(code: 0x06, jumpTrue: 0, jumpFalse: 0, operand: action.value)
    }

    /// Continues when what was loaded is the operand, and else skips so many instructions.
    static func when(_ operand: UInt32, elseSkip count: Int) -> Instruction {
      Instruction(code: 0x15, jumpTrue: 0, jumpFalse: UInt8(truncatingIfNeeded: count), operand: operand)
    }

    /// Skips so many instructions when it is the operand.
    static func skip(_ count: Int, when operand: UInt32) -> Instruction {
      Instruction(code: 0x15, jumpTrue: UInt8(truncatingIfNeeded: count), jumpFalse: 0, operand: operand)
    }

    static func skipOne(whenBelow operand: UInt32) -> Instruction {
      Instruction(code: 0x35, jumpTrue: 0, jumpFalse: 1, operand: operand)
    }

    static func skipOne(whenAnySet bits: UInt32) -> Instruction {
      Instruction(code: 0x45, jumpTrue: 1, jumpFalse: 0, operand: bits)
    }

    static func skipOne(whenNoneSet bits: UInt32) -> Instruction {
      Instruction(code: 0x45, jumpTrue: 0, jumpFalse: 1, operand: bits)
    }
  }

  private(set) var instructions: [Instruction]

  /// - Parameter architecture: The kernel's name of it (linux/audit.h). A process can make calls of another one, whose
  ///   numbers are others; so do those of x32, which have the bit 30.
  init(architecture: UInt32) {
    instructions = [
      .load(Self.architectureOffset), .skip(1, when: architecture), .end(.kill),
      .load(Self.numberOffset), .skipOne(whenBelow: 0x4000_0000), .end(.kill),
    ]
  }

  // Fields of `struct seccomp_data` (linux/seccomp.h).
  private static let numberOffset: UInt32 = 0
  private static let architectureOffset: UInt32 = 4
  private static func offset(ofArgument index: Int) -> UInt32 { UInt32(16 + 8 * index) }

  /// Says what becomes of a call that fulfils all conditions; one that does not fails with EPERM.
  mutating func add(_ number: UInt32, _ action: Action, when conditions: [Condition] = []) {
    var block: [Instruction] = []
    for condition in conditions {
      switch condition {
      case .oneOf(let index, let values):
        block.append(.load(Self.offset(ofArgument: index)))
        for (place, value) in values.enumerated() { block.append(.skip(values.count - place, when: value)) }
        block.append(.end(.fail(EPERM)))
      case .lacks(let index, let bits):
        block += [.load(Self.offset(ofArgument: index)), .skipOne(whenNoneSet: bits), .end(.fail(EPERM))]
      case .has(let index, let bits):
        block += [.load(Self.offset(ofArgument: index)), .skipOne(whenAnySet: bits), .end(.fail(EPERM))]
      }
    }
    block.append(.end(action))
    instructions.append(.when(number, elseSkip: block.count))
    instructions += block
  }

  /// Binds all threads of this process, for ever. Wants PR_SET_NO_NEW_PRIVS.
  ///
  /// Throws `fileAccess` where the kernel has no seccomp.
  func install() throws {
    struct Program {
      let count: UInt16
      let start: UnsafeRawPointer?
    }
    let whole = instructions + [.end(.fail(EPERM))]
    let result = whole.withUnsafeBytes { buffer in
      withUnsafePointer(to: Program(count: UInt16(whole.count), start: buffer.baseAddress)) {
        // SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC
        VariadicCall.systemCall(SystemCallNumber.seccomp, 1, 1, UInt(bitPattern: $0))
      }
    }
    guard result == 0 else {
      let reason = result < 0 ? String(cString: strerror(errno)) : "thread \(result) cannot be bound"
      throw GodwitError(
        .fileAccess,
        "this system cannot limit the system calls of the process that reads the database (seccomp): \(reason)",
        hint: "convert where the kernel has them, or read a database that you trust in your own process (.thisProcess)")
    }
  }
}
