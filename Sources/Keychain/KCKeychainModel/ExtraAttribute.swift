/// An attribute of another keychain system that has no column here, preserved unchanged.
package struct ExtraAttribute: Hashable, Sendable {
    /// Its name, unique within the item by its UTF-8 bytes.
    package let name: String
    /// Its value.
    package let value: String

    /// Creates a named value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Compares the bytes.
    package static func == (left: ExtraAttribute, right: ExtraAttribute) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }
}
