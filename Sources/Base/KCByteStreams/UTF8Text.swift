extension Span<UInt8> {
    /// True if the bytes are UTF-8.
    package var isUTF8: Bool {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: self)
            return true
        } catch {
            return false
        }
    }

    /// The text of bytes that are no secret; nil if they are not UTF-8.
    package var utf8Text: String? {
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: self))
        } catch {
            return nil
        }
    }
}

extension SecretBytes {
    /// True if the bytes are UTF-8.
    package var isUTF8: Bool { withBytes { $0.isUTF8 } }

    /// The text of bytes that turned out to be no secret; nil if they are not UTF-8.
    package var utf8Text: String? { withBytes { $0.utf8Text } }
}
