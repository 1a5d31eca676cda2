import Foundation

extension Int: OrderedColumnValue {}
extension Int8: OrderedColumnValue {}
extension Int16: OrderedColumnValue {}
extension Int32: OrderedColumnValue {}
extension Int64: OrderedColumnValue {}
extension UInt: OrderedColumnValue {}
extension UInt8: OrderedColumnValue {}
extension UInt16: OrderedColumnValue {}
extension UInt32: OrderedColumnValue {}
extension UInt64: OrderedColumnValue {}
extension Float: OrderedColumnValue {}
extension Double: OrderedColumnValue {}
extension Date: OrderedColumnValue {}
extension String: OrderedColumnValue {}
extension RecordID: OrderedColumnValue {}
