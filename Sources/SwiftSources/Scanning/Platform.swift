/// What conditional compilation depends on, as far as it is known before the compiler runs.
package struct Platform: Sendable {
  /// Modules that can be imported, beside those of the toolchain.
  package var modules: Set<String>

  package init(modules: Set<String> = []) { self.modules = modules }

  /// Modules of every toolchain that has no Objective-C runtime.
  static let toolchainModules: Set<String> = [
    "Swift", "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationXML",
    "FoundationNetworking", "Dispatch", "Observation", "Synchronization", "RegexBuilder", "_Concurrency",
    "_StringProcessing",
  ]

  /// Modules of Apple's platforms. Another name may be a module of the program.
  static let appleModules: Set<String> = [
    "ObjectiveC", "Darwin", "UIKit", "AppKit", "SwiftUI", "SwiftData", "Combine", "CloudKit", "CoreGraphics",
    "CoreFoundation", "CoreLocation", "CoreSpotlight", "CoreImage", "CoreText", "CoreMotion", "CoreServices",
    "CoreTelephony", "CoreBluetooth", "CoreMedia", "CoreML", "MapKit", "Contacts", "ContactsUI", "EventKit",
    "HealthKit", "WatchKit", "WatchConnectivity", "WidgetKit", "StoreKit", "UserNotifications", "Photos",
    "PhotosUI", "AVFoundation", "AVKit", "QuartzCore", "WebKit", "Cocoa", "CryptoKit", "Security",
    "LocalAuthentication", "Network", "MetricKit", "AppIntents", "Intents", "os", "OSLog", "XCTestObjC",
    "UniformTypeIdentifiers", "MobileCoreServices", "SafariServices", "MessageUI", "Social", "Accounts",
    "Vision", "Metal", "MetalKit", "SceneKit", "SpriteKit", "GameKit", "GameplayKit", "BackgroundTasks",
    "NaturalLanguage", "ImageIO", "Accelerate", "SystemConfiguration", "QuickLook", "PDFKit", "ActivityKit",
    "GLKit", "OpenGLES", "ARKit", "RealityKit", "CoreAudio", "AudioToolbox", "CoreVideo", "VideoToolbox",
    "CoreHaptics", "CoreNFC", "CallKit", "PassKit", "PushKit", "AuthenticationServices", "DeviceCheck",
    "HomeKit",
    "FileProvider", "LinkPresentation", "Messages", "MultipeerConnectivity", "NetworkExtension",
    "NotificationCenter",
    "PencilKit", "ReplayKit", "Speech", "VisionKit", "Charts", "Carbon", "IOKit", "CommonCrypto",
    "JavaScriptCore",
    "AdSupport", "AppTrackingTransparency", "AddressBook", "AssetsLibrary", "TipKit", "ServiceManagement",
    "XPC",
    "CoreTransferable", "ExternalAccessory", "simd",
  ]

  func canImport(_ module: String) -> Bool? {
    if module == "CoreData" || Self.toolchainModules.contains(module) || modules.contains(module) {
      return true
    }
    return Self.appleModules.contains(module) ? false : nil
  }

  static var system: String {
    #if os(Linux)
      "Linux"
    #elseif os(Windows)
      "Windows"
    #elseif os(Android)
      "Android"
    #elseif os(macOS)
      "macOS"
    #else
      ""
    #endif
  }
}
