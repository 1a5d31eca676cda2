import Godwit
import GodwitReports

/// Draws how the changes that the log remembers have added up.
struct GrowthChart {
  private let timeline: Timeline
  /// Bytes of changes by the end of each span.
  private let sums: [Int]

  private static let (width, height) = (850.0, 140.0)

  init(_ timeline: Timeline) {
    self.timeline = timeline
    var sum = 0
    sums = (0..<timeline.spans).map { span in
      sum += timeline.lanes.reduce(0) { $0 + $1.amounts[span].bytes }
      return sum
    }
  }

  private var summary: String {
    let last = sums.last ?? 0
    return
      "Changes that the log remembers added up to \(Format.byteSize(last)) since \(timeline.text(0).prefix(10)), a step for each span of \(timeline.spanName)."
  }

  /// The drawing and, under it, its numbers.
  var figure: HTML {
    HTML(
      "figure", [:],
      [PageTable.region("Drawing: how the log grew", drawing), HTML("figcaption", [:], summary), numbers])
  }

  private var drawing: HTML {
    HTML(
      "svg",
      [
        "viewBox": "0 0 \(TimelineChart.number(Self.width)) \(TimelineChart.number(Self.height))", "role": "img",
        "aria-labelledby": "growth-title growth-description", "class": "chart",
      ],
      [
        HTML("title", ["id": "growth-title"], "How the log grew"),
        HTML("desc", ["id": "growth-description"], summary + " The numbers are in the table below the drawing."),
        HTML("path", ["d": path, "class": "area"]),
        HTML("text", ["x": "4", "y": "14", "class": "label"], Format.byteSize(sums.last ?? 0)),
      ])
  }

  /// A stair from the left below to the right above.
  private var path: String {
    let step = Self.width / Double(timeline.spans)
    let greatest = Double(max(sums.last ?? 0, 1))
    let number = TimelineChart.number
    let stair = sums.enumerated().map { span, sum in
      let y = number(Self.height - (Self.height - 20) * Double(sum) / greatest)
      return "L\(number(Double(span) * step)) \(y)H\(number(Double(span + 1) * step))"
    }
    return "M0 \(number(Self.height))\(stair.joined())V\(number(Self.height))Z"
  }

  private var numbers: HTML {
    let rows = sums.enumerated().map { span, sum in
      [HTML(timeline.text(span + 1)), HTML(Format.byteSize(sum))]
    }
    return PageTable("Numbers of the growth above", [.text("Until"), .number("Changes in all")], rows).folded
  }
}
