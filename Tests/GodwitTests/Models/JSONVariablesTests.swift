import Foundation
import Godwit
import Testing

@Suite("JSON of variables")
struct JSONVariablesTests {
  @Test("is made of dictionaries and arrays whose values have different types")
  func mixed() throws {
    let (name, price, day) = ("Ada", 3, Date(timeIntervalSince1970: 0))
    let none: Int? = nil
    let json = JSON(["name": name, "price": price, "tags": ["new", name], "born": day, "size": none, "x": ["y": 1.5]])
    #expect(
      json.text
        == #"{"born":"1970-01-01T00:00:00.000Z","name":"Ada","price":3,"size":null,"tags":["new","Ada"],"x":{"y":1.5}}"#
    )
    #expect(JSON([name, price, true]).text == #"["Ada",3,true]"#)
  }

  @Test("is made of dictionaries and arrays of one type, and of optionals")
  func uniform() {
    let numbers = ["a": [1, 2], "b": []]
    #expect(numbers.json == ["a": [1, 2], "b": []])
    #expect(["x", nil].json == ["x", nil])
    #expect(JSON(["a": 1]) == ["a": 1])
  }
}
