import StackSupport
import Testing

/// The class of the behaviour suite, not Swift Testing's.
typealias Tag = StackSupport.Tag
