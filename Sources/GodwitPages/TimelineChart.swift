import Foundation
import Godwit
import GodwitReports

/// Draws who wrote when: a lane for each member, a bar for each span in which it wrote.
struct TimelineChart {
  private let timeline: Timeline
  private let names: ReplicaNames
  /// Of one writer in one span.
  private let greatest: Int

  private static let (left, width, laneHeight, barHeight) = (150.0, 850.0, 34.0, 26.0)

  init(_ timeline: Timeline, _ names: ReplicaNames) {
    self.timeline = timeline
    self.names = names
    greatest = timeline.lanes.flatMap(\.amounts).map(\.transactions).max() ?? 0
  }

  /// The drawing and, under it, its numbers.
  var figure: HTML {
    HTML(
      "figure", [:],
      [PageTable.region("Drawing: transactions by member", drawing), HTML("figcaption", [:], summary), numbers])
  }

  private var spanWidth: Double { (Self.width - Self.left) / Double(timeline.spans) }

  private var summary: String {
    let (from, through) = (timeline.text(0), timeline.text(timeline.spans))
    let misdated =
      timeline.misdated == 0
      ? ""
      : " \(Format.count(timeline.misdated, "transaction")) of clocks that were far off \(timeline.misdated == 1 ? "stands" : "stand") at the beginning or the end."
    return
      "Transactions by member from \(from) to \(through), UTC by the writers' clocks. A bar is \(timeline.spanName), the highest \(Format.count(greatest, "transaction")).\(misdated)"
  }

  private var drawing: HTML {
    let height = Double(timeline.lanes.count) * Self.laneHeight + 24
    return HTML(
      "svg",
      [
        "viewBox": "0 0 \(Self.number(Self.width)) \(Self.number(height))", "role": "img",
        "aria-labelledby": "timeline-title timeline-description", "class": "chart",
      ],
      [
        HTML("title", ["id": "timeline-title"], "Transactions by member over time"),
        HTML("desc", ["id": "timeline-description"], summary + " The numbers are in the table below the drawing."),
      ] + timeline.lanes.enumerated().map(lane) + [axis(at: height)])
  }

  private func lane(_ index: Int, _ lane: Timeline.Lane) -> HTML {
    let base = Double(index + 1) * Self.laneHeight
    let label = HTML(
      "text", ["x": Self.number(Self.left - 8), "y": Self.number(base - 8), "class": "label end"],
      Self.short(name(lane)))
    let line = HTML(
      "line",
      [
        "x1": Self.number(Self.left), "x2": Self.number(Self.width), "y1": Self.number(base), "y2": Self.number(base),
        "class": "axis",
      ])
    let bars = lane.amounts.enumerated().filter { $0.element.transactions > 0 }.map { span, amount in
      let height = max(2, Self.barHeight * Double(amount.transactions) / Double(max(greatest, 1)))
      return HTML(
        "rect",
        [
          "x": Self.number(Self.left + Double(span) * spanWidth), "y": Self.number(base - height),
          "width": Self.number(max(1, spanWidth - 1)), "height": Self.number(height), "class": "bar",
        ],
        [
          HTML(
            "title", [:],
            "\(name(lane)), \(timeline.text(span)): \(Format.count(amount.transactions, "transaction")), \(Format.byteSize(amount.bytes))"
          )
        ])
    }
    return HTML("g", [:], [label, line] + bars)
  }

  private func axis(at height: Double) -> HTML {
    HTML(
      "g", [:],
      [
        HTML(
          "text", ["x": Self.number(Self.left), "y": Self.number(height - 6), "class": "label"],
          timeline.text(0)),
        HTML(
          "text", ["x": Self.number(Self.width), "y": Self.number(height - 6), "class": "label end"],
          timeline.text(timeline.spans)),
      ])
  }

  private var numbers: HTML {
    let rows = (0..<timeline.spans).flatMap { span in
      timeline.lanes.filter { $0.amounts[span].transactions > 0 }.map { lane in
        [
          HTML(timeline.text(span)), HTML(name(lane)), HTML("\(lane.amounts[span].transactions)"),
          HTML(Format.byteSize(lane.amounts[span].bytes)),
        ]
      }
    }
    return PageTable(
      "Numbers of the drawing above", [.text("From"), .text("Member"), .number("Transactions"), .number("Changes")],
      rows
    ).folded
  }

  private func name(_ lane: Timeline.Lane) -> String { lane.replica.map(names.name) ?? "all others" }

  private static func short(_ name: String) -> String { name.count > 18 ? "\(name.prefix(17))…" : name }

  /// With a point and two digits at most, whatever the locale.
  static func number(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
  }
}
