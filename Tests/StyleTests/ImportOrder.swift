/// The order of imports: those that follow each other are sorted by their modules.
enum ImportOrder {
    private static let access: Set<Substring> = ["public", "package", "internal", "private", "fileprivate"]

    /// The lines of `file` with an import that belongs before the line above it.
    static func violations(in file: SourceFile) -> [String] {
        let modules = file.text.split(separator: "\n", omittingEmptySubsequences: false).map(module)
        return zip(modules, modules.dropFirst()).enumerated().compactMap { index, pair in
            guard let above = pair.0, let module = pair.1, module < above else { return nil }
            return "\(file.path):\(index + 2)"
        }
    }

    /// The name that a line like `@testable internal import struct Module.Name` imports.
    private static func module(of line: Substring) -> Substring? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "import"),
            words[..<keyword].allSatisfy({ $0.first == "@" || access.contains($0) })
        else { return nil }
        return words.last
    }
}
