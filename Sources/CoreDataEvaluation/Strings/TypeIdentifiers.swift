import CoreDataPredicates

/// Uniform type identifiers, for `UTI-EQUALS` and `UTI-CONFORMS-TO`: the public types that Apple documents.
/// Apple's systems use a database of installed applications, which Linux doesn't have.
package enum TypeIdentifiers {
  /// Identifiers are compared without case.
  package static func equal(_ left: String, _ right: String) -> Bool {
    left.lowercased() == right.lowercased()
  }

  /// Whether one type is the other or a subtype of it; nil if the first one is unknown here.
  package static func conforms(_ identifier: String, to other: String) -> Bool? {
    if equal(identifier, other) { return true }
    guard let start = parents[identifier.lowercased()] else { return nil }
    var pending: [String] = start
    while let parent = pending.popLast() {
      if equal(parent, other) { return true }
      pending += parents[parent] ?? []
    }
    return false
  }

  private static let parents: [String: [String]] = [
    "public.item": [], "public.content": [], "public.contact": ["public.content"], "public.database": [],
    "public.composite-content": ["public.content"], "public.data": ["public.item"],
    "public.directory": ["public.item"], "public.folder": ["public.directory"],
    "public.volume": ["public.folder"], "com.apple.package": ["public.directory"],
    "com.apple.bundle": ["public.directory"], "public.executable": ["public.item"],
    "public.symlink": ["public.item"], "public.archive": ["public.data"],
    "public.zip-archive": ["public.data", "public.archive"],
    "com.pkware.zip-archive": ["public.data", "public.archive"],
    "org.gnu.gnu-zip-archive": ["public.data", "public.archive"],
    "public.tar-archive": ["public.data", "public.archive"],
    "public.text": ["public.data", "public.content"], "public.plain-text": ["public.text"],
    "public.utf8-plain-text": ["public.plain-text"], "public.utf16-plain-text": ["public.plain-text"],
    "public.rtf": ["public.text"], "public.html": ["public.text"], "public.xml": ["public.text"],
    "public.json": ["public.text"], "public.yaml": ["public.text"],
    "public.delimited-values-text": ["public.text"],
    "public.comma-separated-values-text": ["public.delimited-values-text"],
    "public.tab-separated-values-text": ["public.delimited-values-text"],
    "public.source-code": ["public.plain-text"], "public.swift-source": ["public.source-code"],
    "public.c-source": ["public.source-code"], "public.c-header": ["public.source-code"],
    "public.c-plus-plus-source": ["public.source-code"], "public.objective-c-source": ["public.source-code"],
    "public.script": ["public.source-code"], "public.shell-script": ["public.script"],
    "public.python-script": ["public.script"], "public.image": ["public.data", "public.content"],
    "public.jpeg": ["public.image"], "public.png": ["public.image"], "public.tiff": ["public.image"],
    "public.svg-image": ["public.image"], "public.heic": ["public.image"], "public.heif": ["public.image"],
    "public.camera-raw-image": ["public.image"], "com.compuserve.gif": ["public.image"],
    "com.microsoft.bmp": ["public.image"], "com.microsoft.ico": ["public.image"],
    "org.webmproject.webp": ["public.image"],
    "public.audiovisual-content": ["public.data", "public.content"],
    "public.movie": ["public.audiovisual-content"], "public.video": ["public.movie"],
    "public.audio": ["public.audiovisual-content"], "public.mp3": ["public.audio"],
    "public.mpeg": ["public.movie"], "public.mpeg-4": ["public.movie"],
    "public.mpeg-4-audio": ["public.audio"], "com.apple.quicktime-movie": ["public.movie"],
    "com.microsoft.waveform-audio": ["public.audio"],
    "com.adobe.pdf": ["public.data", "public.composite-content"],
    "public.url": ["public.data"], "public.file-url": ["public.url"], "public.bookmark": ["public.data"],
    "public.vcard": ["public.text", "public.contact"], "public.calendar-event": ["public.content"],
    "public.message": [], "public.email-message": ["public.data", "public.message"],
    "public.font": ["public.data"],
    "public.3d-content": ["public.content"], "public.presentation": ["public.composite-content"],
    "public.spreadsheet": ["public.content"],
  ]
}
