import Foundation
import Godwit

enum ComingFromSwiftDataSamples {
  // begin sample
  struct Recipe: Model {
    static let schema = Schema<Self>("recipe") {
      Column("title", \.title).unique()
      Column("servings", \.servings)
      Column("tags", \.tags, merge: .addWinsSet)
      Timestamps(created: \.created, updated: \.updated)
      Validate(\.title, .presence)
    }
    static let ingredients = HasMany(\Ingredient.recipe)
    var id = RecordID<Recipe>()
    var title = ""
    var servings = 2
    var tags: Set<String> = []
    var created = Timestamp()
    var updated = Timestamp()
    var isExpanded = false  // not listed, so not stored
  }

  struct Ingredient: Model {
    static let schema = Schema<Self>("ingredient") {
      Column("name", \.name)
      Column("recipe", \.recipe).references(Recipe.self, onDelete: .cascade)
      Index(\.recipe)
    }
    var id = RecordID<Ingredient>()
    var name = ""
    var recipe = Recipe.ID()
  }
  // end sample

  static func run() async throws {
    // begin sample
    let replica = try await Replica.open(at: "kitchen", models: Recipe.self, Ingredient.self)

    try await replica.write { transaction in
      let soup = try transaction.insert(Recipe(title: "Pea soup", tags: ["winter"]))
      try transaction.add(Ingredient(name: "peas"), to: soup, Recipe.ingredients)
      try transaction.add(Ingredient(name: "mint"), to: soup, Recipe.ingredients)
    }

    let least = 2
    let wanted = #Predicate<Recipe> { $0.servings >= least && $0.title.contains("soup") }
    let soups = Recipe.where(wanted).order(by: \.title)
    for (recipe, ingredients) in try await replica.fetch(soups.including(Recipe.ingredients)) {
      print(recipe.title, ingredients.count)  // Pea soup 2
    }

    try await replica.write { transaction in
      for var recipe in try transaction.fetch(soups) {
        recipe.servings = 4
        recipe.tags.insert("green")  // another machine's tag stays
        try transaction.update(recipe)  // servings, tags and the time of the update
      }
    }

    for try await recipes in replica.observe(soups) {
      print(recipes.map(\.servings))  // [4] at once, and another value after every change
      break
    }

    try await replica.write { transaction in
      try transaction.delete(soups)  // the ingredients go with their recipe
    }
    let left = try await replica.count(Ingredient.all)  // 0
    await replica.close()
    // end sample
    try expect(left == 0)
  }
}
