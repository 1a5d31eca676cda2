import Foundation
import GodwitBase
import GodwitCore

/// Finds the primary keys in the operations of a capture. The bytes are Godwit's own, so their form is known.
struct EntryKeys {
  /// Key columns of each table in use.
  let counts: [Int]

  /// Rows made one after another have rising keys, each greater than all before: no row comes twice.
  func rise(_ entries: [ChangeCapture.Entry], in bytes: UnsafeRawBufferPointer) -> Bool {
    let table = entries[0].table
    var previous = key(entries[0], in: bytes)
    for entry in entries.dropFirst() {
      let next = key(entry, in: bytes)
      guard entry.table == table, let left = previous.baseAddress, let right = next.baseAddress,
        previous.count == next.count, memcmp(left, right, next.count) < 0
      else { return false }
      previous = next
    }
    return true
  }

  func haveRepeatedHash(_ entries: [ChangeCapture.Entry], in bytes: UnsafeRawBufferPointer) -> Bool {
    var seen = Set<Int>(minimumCapacity: entries.count)
    return entries.contains { entry in
      var hasher = Hasher()
      hasher.combine(entry.table)
      hasher.combine(bytes: key(entry, in: bytes))
      return !seen.insert(hasher.finalize()).inserted
    }
  }

  private func key(_ entry: ChangeCapture.Entry, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = start(entry)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<end(entry, from: start, in: bytes)])
  }

  private func start(_ entry: ChangeCapture.Entry) -> Int {
    var head = Operation.head(table: entry.table, kind: entry.kind)
    var start = entry.operation + 1
    while head >= 0x80 {
      head >>= 7
      start += 1
    }
    return start
  }

  /// Steps over the key's values.
  private func end(_ entry: ChangeCapture.Entry, from start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    var position = start
    for _ in 0..<counts[entry.table] {
      let tag = bytes[position]
      position += 1
      switch tag {
      case ValueTag.integer:
        while bytes[position] >= 0x80 { position += 1 }
        position += 1
      case ValueTag.real: position += 8
      case ValueTag.text, ValueTag.blob:
        var length = 0
        var shift = 0
        while bytes[position] >= 0x80 {
          length |= Int(bytes[position] & 0x7F) << shift
          shift += 7
          position += 1
        }
        length |= Int(bytes[position]) << shift
        position += 1 + length
      default: break
      }
    }
    return position
  }
}
