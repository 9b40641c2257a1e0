#if !canImport(ObjectiveC)

  /// Runs the body and gives what it gives.
  ///
  /// On Apple's platforms the Objective-C overlay has this function, and programs put the rounds of a long import into it. There is no
  /// pool here, and nothing that waits for one: an object goes with its last reference. A function of this name in the program or in another
  /// library comes first.
  @_disfavoredOverload
  @inlinable
  public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
  ) throws(Failure) -> Result { try body() }

#endif
