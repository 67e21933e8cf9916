import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Access groups and entitlements")
struct EntitlementTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A program that is replaced while running keeps its name")
    func replacedProgram() throws {
        let gone = folder.path("tool")
        #expect(Entitlements.program(at: gone + " (deleted)") == gone)
        try folder.write("tool (deleted)", [])
        #expect(Entitlements.program(at: gone + " (deleted)") == gone + " (deleted)")
    }

    @Test("A dangling entitlements link is an error and is not treated as missing")
    func danglingList() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("tool.entitlements"), withDestinationPath: folder.path("nowhere"))
        #expect(throws: KeychainClientFailure.self) { try Entitlements.groups(ofExecutable: folder.path("tool")) }
    }

    /// The access groups from a property list.
    private func groups(
        _ entries: [CFString: Any], _ format: PropertyListSerialization.PropertyListFormat = .xml
    ) throws -> [String] {
        let data = try PropertyListSerialization.data(fromPropertyList: entries, format: format, options: 0)
        try folder.write("list", Array(data))
        return try Entitlements(contentsOf: folder.path("list")).accessGroups.ordered
    }

    // MARK: Property list

    @Test(
        "A list is read in XML and binary form", arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func formats(format: PropertyListSerialization.PropertyListFormat) throws {
        #expect(try groups(["keychain-access-groups": ["b", "a", "b"]], format) == ["b", "a"])
    }

    @Test(
        "Keychain access groups come first, then associated identifiers, the program's own, and application groups")
    func order() throws {
        let all: [CFString: Any] = [
            "com.apple.security.application-groups": ["shared"], "application-identifier": "own",
            "com.apple.developer.associated-application-identifier": ["associated"],
            "keychain-access-groups": ["first", "second"], "get-task-allow": true,
        ]
        #expect(try groups(all) == ["first", "second", "associated", "own", "shared"])
        #expect(try groups(["application-identifier": "own"]) == ["own"])
        let associated = "com.apple.developer.associated-application-identifier"
        #expect(try groups(["application-identifier": "own", associated as CFString: ["maker"]]) == ["maker", "own"])
        #expect(try groups([:]) == [])
    }

    @Test("A list with anything but strings is refused")
    func malformed() throws {
        #expect(throws: KeychainClientFailure.entitlementsMalformed(path: folder.path("list"))) {
            try groups(["keychain-access-groups": [1]])
        }
        #expect(throws: KeychainClientFailure.entitlementsMalformed(path: folder.path("list"))) {
            try groups(["application-identifier": ["own": "x"]])
        }
        for bytes in [[], Array("no list".utf8), Array("bplist00".utf8)] {
            try folder.write("list", bytes)
            #expect(throws: KeychainClientFailure.entitlementsMalformed(path: folder.path("list"))) {
                try Entitlements(contentsOf: folder.path("list"))
            }
        }
        try folder.write("list", [UInt8](repeating: 0x20, count: 1 << 20 + 1))
        for name in ["list", "missing", ""] {
            #expect(throws: KeychainClientFailure.entitlementsUnreadable(path: folder.path(name))) {
                try Entitlements(contentsOf: folder.path(name))
            }
        }
    }

    @Test("The list is next to the executable, and without it the only group is the executable's name")
    func ofExecutable() throws {
        let executable = folder.path("mail")
        #expect(try Entitlements.groups(ofExecutable: executable).ordered == ["mail"])
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["keychain-access-groups": ["team.mail"]], format: .xml, options: 0)
        try folder.write("mail.entitlements", Array(list))
        #expect(try Entitlements.groups(ofExecutable: executable).ordered == ["team.mail"])
        try folder.write("mail.entitlements", Array("damaged".utf8))
        #expect(throws: KeychainClientFailure.self) { try Entitlements.groups(ofExecutable: executable) }
        #expect(throws: KeychainClientFailure.executableUnknown) { try Entitlements.groups(ofExecutable: "") }
    }

    // MARK: Calls

    @Test("A program without groups is refused every call")
    func withoutGroups() throws {
        let program = try TestClient(groups: [])
        #expect(program.statusesOfAllCalls(query("ann")).allSatisfy { $0 == errSecMissingEntitlement })
        let named = query("ann", [kSecAttrAccessGroup: "test"])
        #expect(program.statusesOfAllCalls(named).allSatisfy { $0 == errSecMissingEntitlement })
    }

    @Test("Items are added to the first group and searched in all groups")
    func ownGroups() throws {
        let program = try TestClient(groups: ["first", "second"])
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        #expect(program.add(password("ann", "2", [kSecAttrAccessGroup: "second"])) == errSecSuccess)
        #expect(program.text(query("ann", [kSecAttrAccessGroup: "first"])) == "1")
        #expect(program.text(query("ann", [kSecAttrAccessGroup: "second"])) == "2")
        #expect(program.count(query("ann")) == 2)
        #expect(program.delete(query("ann", [kSecAttrAccessGroup: "first"])) == errSecSuccess)
        #expect(program.text(query("ann")) == "2")
    }

    @Test("All four calls refuse another program's group, and do not see its items otherwise")
    func foreignGroup() throws {
        let owner = try TestClient(groups: ["owner"])
        let stranger = try TestClient(groups: ["stranger"], sharing: owner)
        #expect(owner.add(password("ann", "1")) == errSecSuccess)
        let named = query("ann", [kSecAttrAccessGroup: "owner"])
        #expect(stranger.statusesOfAllCalls(named).allSatisfy { $0 == errSecMissingEntitlement })
        #expect(stranger.status(query("ann")) == errSecItemNotFound)
        #expect(stranger.update(query("ann"), [kSecAttrLabel: "x"]) == errSecItemNotFound)
        #expect(stranger.delete(query("ann")) == errSecItemNotFound)
        #expect(stranger.add(password("ann", "2")) == errSecSuccess)
        #expect(stranger.update(query("ann"), [kSecAttrAccessGroup: "owner"]) == errSecMissingEntitlement)
        #expect(stranger.delete(generic()) == errSecSuccess)
        #expect(owner.text(query("ann")) == "1" && owner.attributes(query("ann"))?[kSecAttrLabel] == nil)
    }

    @Test("Groups are compared byte by byte, without case folding, normalization or prefix matching")
    func exactGroup() throws {
        let program = try TestClient(groups: ["é.group"])
        for other in ["É.group", "e\u{301}.group", "é", "é.group.x", ""] {
            let status = program.add(password("ann", "1", [kSecAttrAccessGroup: other]))
            #expect(status == errSecMissingEntitlement, "\(other)")
        }
    }

    @Test("A program with the wildcard group sees every group and can write to any named group")
    func wildcard() throws {
        let owner = try TestClient(groups: ["owner"])
        #expect(owner.add(password("ann", "1")) == errSecSuccess)
        let all = try TestClient(groups: ["own", "*"], sharing: owner)
        #expect(all.text(query("ann")) == "1")
        #expect(all.add(password("bob", "2")) == errSecSuccess)
        #expect(all.attributes(query("bob"))?[kSecAttrAccessGroup] as? String == "own")
        #expect(all.add(password("bob", "3", [kSecAttrAccessGroup: "owner"])) == errSecSuccess)
        #expect(owner.text(query("bob")) == "3")
        #expect(all.update(query("ann"), [kSecAttrAccessGroup: "third"]) == errSecSuccess)
        #expect(owner.status(query("ann")) == errSecItemNotFound)
        // With only the wildcard, there is no group that an item would be added to by default.
        let only = try TestClient(groups: ["*"], sharing: owner)
        #expect(only.add(password("eve")) == errSecMissingEntitlement)
        #expect(only.delete(generic()) == errSecSuccess)
        #expect(owner.count(generic()) == 0)
    }

    @Test(
        "No program can write to the token group, even if it has it", arguments: [["com.apple.token"], ["test", "*"]])
    func tokens(groups: [String]) throws {
        let program = try TestClient(groups: groups + ["com.apple.token"])
        let item = password("ann", "1", [kSecAttrAccessGroup: "com.apple.token"])
        #expect(program.add(item) == errSecMissingEntitlement)
        #expect(program.status(query("ann", [kSecAttrAccessGroup: "com.apple.token"])) == errSecItemNotFound)
        guard groups.first == "test" else {
            #expect(program.add(password("ann", "1")) == errSecMissingEntitlement)
            return
        }
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        #expect(program.update(query("ann"), [kSecAttrAccessGroup: "com.apple.token"]) == errSecMissingEntitlement)
    }

    @Test("An item can neither be added with a token nor given one by an update")
    func tokenItems() throws {
        let program = try TestClient()
        let token: [CFString: Any] = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
        #expect(program.add([kSecClass: kSecClassKey].merging(token) { $1 }) == errSecUnimplemented)
        #expect(program.add([kSecClass: kSecClassKey]) == errSecSuccess)
        #expect(program.update([kSecClass: kSecClassKey], token) == errSecUnimplemented)
        #expect(program.status([kSecClass: kSecClassKey].merging(token) { $1 }) == errSecItemNotFound)
    }
}
