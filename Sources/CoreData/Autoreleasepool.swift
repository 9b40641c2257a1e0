#if !canImport(ObjectiveC)

  /// Runs the body and returns its result.
  ///
  /// On Apple's platforms the Objective-C overlay has this function, and programs call it for the portions of
  /// a long import. There is no pool here, and nothing needs one: an object is destroyed with its last
  /// reference. A function of this name in the program or in another library takes precedence.
  @_disfavoredOverload
  @inlinable
  public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
  ) throws(Failure) -> Result { try body() }

#endif
