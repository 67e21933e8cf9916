internal import KCByteStreams
internal import KCLocalKeychains
internal import KCSecurityStatus

/// macOS's domains; only the user's exists here.
private let domainFlag = Flag("d", .value("domain"), "The domain: user, system, common or dynamic; only user has any")

extension Command {
    static let listKeychains = Command(
        "list-keychains", "Show or set the keychains that are searched.",
        flags: [domainFlag, Flag("s", .none, "Set the list to the keychains that follow")], operands: "[keychain...]",
        notes: ["Until it is set, all keychains of the data folder are searched, the default one first."]
    ) { words, session in
        try session.listKeychains(words)
    }

    static let defaultKeychain = Command(
        "default-keychain", "Show or set the default keychain.",
        flags: [domainFlag, Flag("s", .none, "Set it to the named keychain, or to login if none is given")],
        operands: "[keychain]", notes: ["Until it is set, it is login."]
    ) { words, session in
        try session.defaultKeychain(words)
    }

    static let loginKeychain = Command(
        "login-keychain", "Show the login keychain.",
        flags: [domainFlag, Flag("s", .none, "Without meaning here")], operands: "[keychain]"
    ) { words, session in
        let isUsers = try session.isUserDomain(words)
        if words.has("s") || !isUsers {
            throw Failure(.unimplemented, api: "SecKeychainSetLogin", note: "the login keychain is the one named login")
        }
        try session.writePath(LocalKeychain(LocalKeychain.defaultName, in: session.world.dataFolder))
        return .ok
    }
}

extension Session {
    fileprivate func listKeychains(_ words: Words) throws -> ExitStatus {
        let isUsers = try isUserDomain(words)
        let folder = world.dataFolder
        if words.has("s") {
            try calling("SecKeychainSetSearchList") {
                if !isUsers { throw SecurityStatus.unimplemented }
                var names: [String] = []
                for word in words.operands {
                    let name = try named(word).name
                    if !names.contains(name) { names.append(name) }
                }
                guard names.count <= KeychainLists.searchListLimit else { throw SecurityStatus.parameter }
                try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in lists.searchList = names }
            }
        } else {
            if !words.operands.isEmpty { throw UsageProblem() }
            try calling("SecKeychainCopySearchList") {
                guard isUsers else { return }
                for keychain in try KeychainLists.load(from: folder).searched(in: folder) { try writePath(keychain) }
            }
        }
        return .ok
    }

    fileprivate func defaultKeychain(_ words: Words) throws -> ExitStatus {
        let isUsers = try isUserDomain(words)
        let folder = world.dataFolder
        if words.has("s") {
            if words.operands.count > 1 { throw UsageProblem() }
            try calling("SecKeychainSetDefault") {
                if !isUsers { throw SecurityStatus.unimplemented }
                let keychain = try words.operands.first.map { try named($0) }
                if let keychain, try !Path.exists(keychain.path) { throw SecurityStatus.noSuchKeychain }
                try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in
                    lists.defaultKeychain = keychain?.name
                }
            }
        } else {
            if !words.operands.isEmpty { throw UsageProblem() }
            try calling("SecKeychainCopyDefault") {
                if !isUsers { throw SecurityStatus.noDefaultKeychain }
                try writePath(namedOrDefault(nil))
            }
        }
        return .ok
    }

    fileprivate func writePath(_ keychain: LocalKeychain) throws {
        try write("    \"\(listed(keychain))\"\n")
    }

    fileprivate func isUserDomain(_ words: Words) throws(UsageProblem) -> Bool {
        switch words.value("d") {
        case nil, "user": return true
        case "system", "common", "dynamic": return false
        case .some: throw UsageProblem(reason: "the domain is not one of user, system, common, dynamic")
        }
    }
}
