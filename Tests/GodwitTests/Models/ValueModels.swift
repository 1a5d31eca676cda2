import Foundation
import Godwit

enum Mood: String, ColumnValue { case calm, wild = "w\0ild" }
enum Level: UInt8, ColumnValue { case low = 0, high = 255 }
struct Place: JSONColumnValue, Equatable {
  var name = ""
  var spots: [Double] = []
  var inner: [String: [Int]] = [:]
}

/// A property of every type that a column can hold.
struct Everything: Model {
  static let schema = Schema<Self>("everything") {
    Column("int", \.int)
    Column("int8", \.int8)
    Column("int16", \.int16)
    Column("int32", \.int32)
    Column("int64", \.int64)
    Column("uint", \.uint)
    Column("uint8", \.uint8)
    Column("uint16", \.uint16)
    Column("uint32", \.uint32)
    Column("uint64", \.uint64)
    Column("bool", \.bool)
    Column("float", \.float)
    Column("double", \.double)
    Column("decimal", \.decimal)
    Column("text", \.text)
    Column("data", \.data)
    Column("date", \.date)
    Column("uuid", \.uuid)
    Column("url", \.url)
    Column("mood", \.mood)
    Column("level", \.level)
    Column("list", \.list)
    Column("map", \.map)
    Column("set", \.set)
    Column("place", \.place)
    Column("maybe_int", \.maybeInt)
    Column("maybe_text", \.maybeText)
    Column("maybe_date", \.maybeDate)
    Column("maybe_place", \.maybePlace)
    Column("maybe_uint64", \.maybeUInt64)
  }
  var id = ""
  var int = 0
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var uint: UInt = 0
  var uint8: UInt8 = 0
  var uint16: UInt16 = 0
  var uint32: UInt32 = 0
  var uint64: UInt64 = 0
  var bool = false
  var float: Float = 0
  var double = 0.0
  var decimal = Decimal(0)
  var text = ""
  var data = Data()
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID()
  var url = URL(fileURLWithPath: "/")
  var mood = Mood.calm
  var level = Level.low
  var list: [String] = []
  var map: [String: Int] = [:]
  var set: Set<Int> = []
  var place = Place()
  var maybeInt: Int?
  var maybeText: String?
  var maybeDate: Date?
  var maybePlace: Place?
  var maybeUInt64: UInt64?
}
