internal import KCByteStreams

extension ArchiveName {
    /// Returns text made safe for the beginning of a file name: visible, on one line, and not an option; nil if nothing
    /// of it can be in the name of a file.
    package static func fileStem(of stem: String) -> String? {
        var text = ""
        // The label of a collection can contain a slash.
        for scalar in stem.unicodeScalars {
            text.unicodeScalars.append(isVisible(scalar) && scalar != "/" ? scalar : "_")
        }
        var fit = Substring(text.unicodeScalars.drop { ".- ".unicodeScalars.contains($0) })
        // The date, a number and the extension follow, and a file name has at most 255 bytes.
        while fit.utf8.count > 200 { fit.removeLast() }
        return fit.isEmpty ? nil : String(fit)
    }
}

/// False for characters that file listings show as nothing, or as something else.
private func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // Joiners are part of the spelling in some languages.
    case .format: scalar == "\u{200c}" || scalar == "\u{200d}"
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
    default: true
    }
}
