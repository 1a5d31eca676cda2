import CGodwit
import Foundation
import Godwit

/// As `godwit.h` says.
@_cdecl("godwit_put")
public func putDocument(
  _ handle: OpaquePointer?, _ collection: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
  _ json: UnsafePointer<CChar>?, _ expires: Int64
) -> Int32 {
  call {
    let (transaction, documents) = try collectionOf(handle, collection)
    let instant = expires == 0 ? nil : Date(timeIntervalSince1970: Double(expires) / 1_000)
    let (key, json) = (try Arguments.text(key, "key"), try Arguments.text(json, "document"))
    try transaction.writing { try documents.in($0).set(key, json: json, expires: instant) }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_merge")
public func mergeDocument(
  _ handle: OpaquePointer?, _ collection: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
  _ json: UnsafePointer<CChar>?
) -> Int32 {
  call {
    let (transaction, documents) = try collectionOf(handle, collection)
    let (key, json) = (try Arguments.text(key, "key"), try Arguments.text(json, "document"))
    try transaction.writing { try documents.in($0).merge(key, json: json) }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_get")
public func getDocument(
  _ handle: OpaquePointer?, _ collection: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    let place = try Arguments.place(json, "document")
    let (transaction, documents) = try collectionOf(handle, collection)
    let key = try Arguments.text(key, "key")
    Arguments.give(try transaction.reading { try documents.in($0).json(key) }, to: place)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_delete")
public func deleteDocument(
  _ handle: OpaquePointer?, _ collection: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
  _ deleted: UnsafeMutablePointer<Int32>?
) -> Int32 {
  call {
    deleted?.pointee = 0
    let (transaction, documents) = try collectionOf(handle, collection)
    let key = try Arguments.text(key, "key")
    let wasThere = try transaction.writing { try documents.in($0).delete(key) }
    deleted?.pointee = wasThere ? 1 : 0
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_find")
public func findDocuments(
  _ handle: OpaquePointer?, _ collection: UnsafePointer<CChar>?, _ condition: UnsafePointer<CChar>?,
  _ order: UnsafePointer<CChar>?, _ limit: Int, _ rows: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  call {
    let place = try Arguments.place(rows, "rows")
    let (transaction, documents) = try collectionOf(handle, collection)
    var request = try Arguments.optional(condition, "condition").map { documents.where($0) } ?? documents.all
    if let order = try Arguments.optional(order, "order") { request = request.order(by: order) }
    guard limit >= 0 else { throw CallFailure.misuse("the limit is out of range") }
    if limit > 0 { request = request.limit(limit) }
    place.pointee = try transaction.reading { reader in
      let found = try reader.fetch(request).map { [$0.key, $0.json] }
      return transaction.add(OpenRows(found, columns: ["key", "json"], of: transaction))
    }
  }
}

private func collectionOf(
  _ handle: OpaquePointer?, _ collection: UnsafePointer<CChar>?
) throws -> (OpenTransaction, Documents) {
  let transaction: OpenTransaction = try HandleTable.find(handle)
  return (transaction, transaction.replica.documents(try Arguments.text(collection, "collection's name")))
}
