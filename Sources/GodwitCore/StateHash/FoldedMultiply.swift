/// wyhash, final version 4: folded multiplications of 64 by 64 bits (Wang Yi and others, public domain,
/// https://github.com/wangyi-fudan/wyhash, wyhash.h and test_vector.cpp at 77e50f2). It mixes well and is fast; it is
/// no defence against somebody who looks for collisions.
package enum FoldedMultiply {
  @usableFromInline static let secret0: UInt64 = 0xa076_1d64_78bd_642f
  @usableFromInline static let secret1: UInt64 = 0xe703_7ed1_a0b4_28db
  @usableFromInline static let secret2: UInt64 = 0x8ebc_6af0_9c88_c6e3
  @usableFromInline static let secret3: UInt64 = 0x5899_65cc_7537_4cc3

  /// The two halves of the product, folded onto each other.
  @inlinable package static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.low ^ product.high
  }

  /// The hash as published.
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    hash(bytes, prepared: prepared(seed))
  }

  /// What the hash makes of its seed first: that of many short values under one seed is made once.
  @inlinable package static func prepared(_ seed: UInt64) -> UInt64 { seed ^ mix(seed ^ secret0, secret1) }

  /// The hash of eight bytes, the number in little-endian order.
  @inlinable package static func hash(_ number: UInt64, prepared seed: UInt64) -> UInt64 {
    let swapped = number << 32 | number >> 32
    return finish(swapped, number, seed, 8)
  }

  @inlinable static func finish(_ a: UInt64, _ b: UInt64, _ seed: UInt64, _ count: Int) -> UInt64 {
    let product = (a ^ secret1).multipliedFullWidth(by: b ^ seed)
    return mix(product.low ^ secret0 ^ UInt64(truncatingIfNeeded: count), product.high ^ secret1)
  }

  @inlinable static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inlinable static func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  @inlinable package static func hash(_ bytes: UnsafeRawBufferPointer, prepared seed: UInt64) -> UInt64 {
    let count = bytes.count
    guard count <= 16 else { return hashLong(bytes, prepared: seed) }
    if count >= 4 {
      let step = (count >> 3) << 2
      let a = half(bytes, 0) << 32 | half(bytes, step)
      let b = half(bytes, count - 4) << 32 | half(bytes, count - 4 - step)
      return finish(a, b, seed, count)
    }
    guard count > 0 else { return finish(0, 0, seed, 0) }
    let a = UInt64(bytes[0]) << 16 | UInt64(bytes[count >> 1]) << 8 | UInt64(bytes[count - 1])
    return finish(a, 0, seed, count)
  }

  @usableFromInline static func hashLong(_ bytes: UnsafeRawBufferPointer, prepared start: UInt64) -> UInt64 {
    var seed = start
    var place = 0
    var rest = bytes.count
    if rest >= 48 {
      var (second, third) = (seed, seed)
      repeat {
        seed = mix(word(bytes, place) ^ secret1, word(bytes, place + 8) ^ seed)
        second = mix(word(bytes, place + 16) ^ secret2, word(bytes, place + 24) ^ second)
        third = mix(word(bytes, place + 32) ^ secret3, word(bytes, place + 40) ^ third)
        place += 48
        rest -= 48
      } while rest >= 48
      seed ^= second ^ third
    }
    while rest > 16 {
      seed = mix(word(bytes, place) ^ secret1, word(bytes, place + 8) ^ seed)
      place += 16
      rest -= 16
    }
    return finish(word(bytes, place + rest - 16), word(bytes, place + rest - 8), seed, bytes.count)
  }
}
