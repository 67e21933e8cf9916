extension CatalogueEntry {
    /// Judges the file of an entry, of a catalogue that was read before.
    ///
    /// Another run may have changed both since, by `rekey` or `prune`. Each run that does writes the catalogue before the
    /// file, so an alarm is one only if the catalogue still says the same.
    ///
    /// - Parameters:
    ///   - read: reads the catalogue again.
    ///   - isAlarm: true for a result that says that the file is not what was recorded.
    ///   - look: looks at the file, as recorded by an entry.
    /// - Returns: nil if the archive has been removed since.
    /// - Throws: what `read` and `look` throw.
    package func judged<Result>(
        rereading read: () throws -> Catalogue?, isAlarm: (Result) -> Bool, _ look: (CatalogueEntry) throws -> Result
    ) throws -> Result? {
        var entry = self
        while true {
            let result = try look(entry)
            guard isAlarm(result), let catalogue = try read() else { return result }
            guard let current = catalogue.complete.first(where: { $0.id == entry.id }) else { return nil }
            if current == entry { return result }
            entry = current
        }
    }
}
