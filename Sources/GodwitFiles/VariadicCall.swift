import Foundation

/// C's variadic functions, which Swift does not import. Their arguments are integers and addresses here, which the
/// calling conventions of x86-64 and AArch64 pass like fixed ones.
package enum VariadicCall {
  /// prctl(2).
  package static func prctl(_ option: CInt, _ first: UInt = 0, _ second: UInt = 0) -> Int {
    typealias Function = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
    guard let symbol = symbol("prctl") else { return -1 }
    return Int(unsafeBitCast(symbol, to: Function.self)(option, first, second, 0, 0))
  }

  /// syscall(2), with up to three arguments.
  package static func systemCall(_ number: Int, _ first: UInt = 0, _ second: UInt = 0, _ third: UInt = 0) -> Int {
    typealias Function = @convention(c) (Int, UInt, UInt, UInt) -> Int
    guard let symbol = symbol("syscall") else { return -1 }
    return unsafeBitCast(symbol, to: Function.self)(number, first, second, third)
  }

  private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
    let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), name)
    if symbol == nil { errno = ENOSYS }
    return symbol
  }
}
