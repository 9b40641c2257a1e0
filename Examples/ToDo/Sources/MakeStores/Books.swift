extension Library {
  struct Author {
    let name: String
    let born: String
    let died: String?
  }

  struct Book {
    let title: String
    let year: Int16
    let pages: Int32?
    let genre: String
    let authors: [Author]
    let narrator: String?

    init(
      _ title: String, _ year: Int16, _ genre: String, by authors: [Author], pages: Int32? = nil,
      narrator: String? = nil
    ) {
      self.title = title
      self.year = year
      self.pages = pages
      self.genre = genre
      self.authors = authors
      self.narrator = narrator
    }
  }

  private static let austen = Author(name: "Jane Austen", born: "1775-12-16", died: "1817-07-18")
  private static let shelley = Author(name: "Mary Shelley", born: "1797-08-30", died: "1851-02-01")
  private static let charlotte = Author(name: "Charlotte Brontë", born: "1816-04-21", died: "1855-03-31")
  private static let emily = Author(name: "Emily Brontë", born: "1818-07-30", died: "1848-12-19")
  private static let anne = Author(name: "Anne Brontë", born: "1820-01-17", died: "1849-05-28")
  private static let verne = Author(name: "Jules Verne", born: "1828-02-08", died: "1905-03-24")
  private static let twain = Author(name: "Mark Twain", born: "1835-11-30", died: "1910-04-21")
  private static let warner = Author(name: "Charles Dudley Warner", born: "1829-09-12", died: "1900-10-20")
  private static let wells = Author(name: "H. G. Wells", born: "1866-09-21", died: "1946-08-13")
  private static let soseki = Author(name: "夏目漱石", born: "1867-02-09", died: "1916-12-09")

  /// Pages differ from edition to edition; the round numbers here are ours.
  static let books: [Book] = [
    Book("Pride and Prejudice", 1813, "Novel", by: [austen], pages: 430),
    Book("Emma", 1815, "Novel", by: [austen], pages: 470),
    Book("Persuasion", 1817, "Novel", by: [austen]),
    Book("Frankenstein", 1818, "Gothic", by: [shelley], pages: 280),
    Book("The Last Man", 1826, "Science fiction", by: [shelley], pages: 480),
    Book("Poems by Currer, Ellis, and Acton Bell", 1846, "Poetry", by: [charlotte, emily, anne], pages: 160),
    Book("Jane Eyre", 1847, "Novel", by: [charlotte], pages: 530),
    Book("Wuthering Heights", 1847, "Gothic", by: [emily], pages: 340),
    Book("The Tenant of Wildfell Hall", 1848, "Novel", by: [anne], pages: 490),
    Book("Vingt mille lieues sous les mers", 1870, "Science fiction", by: [verne], pages: 440),
    Book("The Gilded Age", 1873, "Satire", by: [twain, warner], pages: 570),
    Book("Adventures of Huckleberry Finn", 1884, "Novel", by: [twain], pages: 360),
    Book("The Time Machine", 1895, "Science fiction", by: [wells], narrator: "A volunteer reader"),
    Book("The War of the Worlds", 1898, "Science fiction", by: [wells], pages: 290),
    Book("吾輩は猫である", 1905, "Satire", by: [soseki], narrator: "A volunteer reader"),
  ]
}
