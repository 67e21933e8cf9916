internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

/// Finds the keychains for a command.
extension Session {
    /// Returns the keychain with this name.
    func named(_ word: String) throws(LocalKeychainFailure) -> LocalKeychain {
        try LocalKeychain(
            macName: word, in: world.dataFolder, home: world.home, workingFolder: world.workingFolder)
    }

    /// Returns the named keychain or, without a name, the default keychain.
    ///
    /// - Throws: `errSecNoDefaultKeychain` if there is no default keychain, `LocalKeychainFailure`.
    func namedOrDefault(_ word: String?) throws -> LocalKeychain {
        if let word { return try named(word) }
        let standard = try KeychainLists.load(from: world.dataFolder).standard(in: world.dataFolder)
        guard try Path.exists(standard.path) else { throw SecurityStatus.noDefaultKeychain }
        return standard
    }

    /// Returns the named keychains or, without names, those in the search list; missing keychains are noted and
    /// skipped.
    func searched(_ words: [String]) throws -> [LocalKeychain] {
        if !words.isEmpty { return try words.map { try named($0) } }
        return try KeychainLists.load(from: world.dataFolder).searched(in: world.dataFolder).filter { keychain in
            let isThere = try Path.exists(keychain.path)
            if !isThere {
                note(
                    "the search list names a keychain that is not there: \(shownInMessages(keychain.path))",
                    evenIfQuiet: true)
            }
            return isThere
        }
    }

    /// Returns how error messages refer to the keychain.
    func object(_ word: String?) -> String { word ?? "<default>" }

    /// Returns the keychain's path for a listing.
    func listed(_ keychain: LocalKeychain) -> String { shown(keychain.path) }
}

/// Searches for items in several keychains.
extension Session {
    /// An item and its keychain.
    struct Found {
        let item: Item
        let keychain: Keychain
        let local: LocalKeychain
    }

    /// Returns the first item that matches a query, from the first keychain that has one.
    ///
    /// An unreadable keychain does not hide items in the next one. But if nothing is found, its error is thrown, since
    /// it might contain the item.
    ///
    /// - Throws: `errSecItemNotFound`, and any error from reading a keychain.
    func first(_ query: ItemQuery, in keychains: [LocalKeychain]) throws -> Found {
        var query = query
        query.limit = 1
        var obstacle: (any Error)?
        for local in keychains {
            do {
                let keychain = try open(local)
                let matches = try keychain.find(query)
                if let item = matches.items.first {
                    return Found(item: item, keychain: keychain, local: local)
                }
                if matches.damaged > 0 { noteDamage(matches.damaged, in: local) }
            } catch {
                obstacle = obstacle ?? error
            }
        }
        throw obstacle ?? SecurityStatus.itemNotFound
    }

    /// Visits every item that matches a query, keychain by keychain.
    ///
    /// - Parameter prepare: called with each keychain before its items are visited.
    /// - Returns: `ok`, or `failed` if something could not be read and was reported.
    /// - Throws: the errors of `body`, and an error of the keychain if there is only one.
    func forEach(
        _ query: ItemQuery, in keychains: [LocalKeychain], api: String,
        prepare: (Keychain, LocalKeychain) throws -> Void = { _, _ in }, _ body: (Found) throws -> Void
    ) throws -> ExitStatus {
        var status = ExitStatus.ok
        for local in keychains {
            var failureOfBody: (any Error)?
            do {
                let keychain = try open(local)
                try prepare(keychain, local)
                let damaged = try keychain.walk(query) { item in
                    do {
                        try body(Found(item: item, keychain: keychain, local: local))
                    } catch {
                        failureOfBody = error
                        throw error
                    }
                }
                if damaged > 0 {
                    noteDamage(damaged, in: local)
                    status = .failed
                }
            } catch {
                if let failureOfBody { throw failureOfBody }
                if keychains.count == 1 { throw error }
                message(Failure(error, api: "\(api) \(local.path)").lines(shownInMessages))
                status = .failed
            }
        }
        return status
    }

    /// Reports damaged rows, even with `-q`: not everything was searched.
    private func noteDamage(_ count: Int, in keychain: LocalKeychain) {
        note("\(count) damaged in \(shownInMessages(keychain.path)), see 'kcbackup item list'", evenIfQuiet: true)
    }
}
