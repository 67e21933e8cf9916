import Foundation
import TestSupport
import Testing

@testable import kcbackup

@Suite("States from before restores, where something fails")
struct UndoFailureTests {
    @Test("a passcode that was set is set, even if the states that an earlier one opens cannot be removed")
    func statesStay() throws {
        let home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("new", "orbit velvet\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Bank"},"secret":"tulip"}"# + "\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("item import items.jsonl --passcode file:passcode").status == .ok)
        #expect(home.run("create -o a.kcb --unencrypted").status == .ok)
        #expect(home.run("item update --service Bank --set icmt=x --passcode file:passcode").status == .ok)
        #expect(home.run("restore a.kcb --on-conflict overwrite --passcode file:passcode").status == .ok)
        let state = try #require(home.folder.list().first { $0.contains("/undo/") && $0.hasSuffix(".keychain") })
        let folder = home.folder.path(String(state[..<(try #require(state.lastIndex(of: "/")))]))
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)

        let outcome = home.run("keychain set-passcode --passcode file:passcode --new-passcode file:new")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("warning: the passcode is set; a state that an earlier one opens is left"))
        #expect(home.run("item find --service Bank --reveal --passcode file:new").text == "tulip")
        // Nothing of the folder is believed either.
        #expect(home.run("restore --undo").status == .refused)
    }
}
