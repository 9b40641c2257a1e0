/// The selectors that values respond to without a registration: the methods of Foundation's classes that
/// make sense in a predicate. `SelectorDispatch` in CoreDataEvaluation implements them.
package enum StandardSelectors {
  /// Methods with arguments.
  package static let selectors: [String] =
    [
      "isEqual:", "isEqualTo:", "isNotEqualTo:", "isKindOfClass:", "isMemberOfClass:",
      "substringFromIndex:", "substringToIndex:", "stringByReplacingOccurrencesOfString:withString:",
      "stringByAppendingString:", "hasPrefix:", "hasSuffix:", "containsString:", "isEqualToString:",
      "stringByAppendingPathComponent:", "stringByAppendingPathExtension:", "componentsSeparatedByString:",
      "dateByAddingTimeInterval:", "timeIntervalSinceDate:", "isEqualToDate:", "earlierDate:", "laterDate:",
      "isEqualToNumber:", "containsObject:", "objectAtIndex:", "indexOfObject:", "arrayByAddingObject:",
      "arrayByAddingObjectsFromArray:", "isEqualToArray:", "componentsJoinedByString:", "isSubsetOfSet:",
      "intersectsSet:", "isEqualToSet:", "setByAddingObject:", "setByAddingObjectsFromSet:", "objectForKey:",
      "valueForKey:",
    ] + StringComparison.allCases.map(\.selectorName)

  /// Those that an error suggests for an unknown selector. Methods without arguments are keys, of which there
  /// are many more.
  package static let usual: [String] =
    selectors + [
      "count", "firstObject", "lastObject", "anyObject", "allObjects", "uppercaseString", "lowercaseString",
      "length",
      "intValue", "doubleValue", "boolValue", "description",
    ]
}
