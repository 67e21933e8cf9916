import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Files of jobs")
struct JobFileTests {
    @Test("A change of any byte of a job's file is noticed by run, doctor, status and schedule show")
    func everyByte() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b --keep-daily 7 --on-failure true").status == .ok)
        #expect(home.run("run x").status == .ok)
        let path = "home/.local/share/kcbackup/jobs/x.job"
        let genuine = try home.folder.read(path)
        let before = try FileManager.default.subpathsOfDirectory(atPath: home.workingFolder).sorted()
        for index in stride(from: 0, to: genuine.count, by: ModelRun.isWhole ? 1 : 3) {
            var changed = genuine
            changed[index] ^= index % 2 == 0 ? 1 : 0x20
            try home.folder.write(path, changed, mode: 0o600)
            for line in ["run x", "status", "schedule show x", "doctor"] {
                let outcome = home.run(line)
                // A device ID that still is one names another device.
                #expect([.damaged, .refused].contains(outcome.status), "byte \(index): \(line)")
            }
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: home.workingFolder).sorted() == before)
        for cut in [0, 1, genuine.count / 2, genuine.count - 1] {
            try home.folder.write(path, Array(genuine[..<cut]), mode: 0o600)
            #expect(home.run("run x").status == .damaged, "\(cut)")
        }
        try home.folder.write(path, genuine, mode: 0o600)
        #expect(home.run("run x").status == .ok)
    }

    @Test("The file of a job under the name of another is refused")
    func renamed() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for name in ["x", "y"] { #expect(home.run("schedule add \(name) --unencrypted --to \(name)").status == .ok) }
        let jobs = "home/.local/share/kcbackup/jobs"
        try home.folder.write("\(jobs)/y.job", try home.folder.read("\(jobs)/x.job"), mode: 0o600)
        #expect(home.run("run y").status == .damaged)
        #expect(home.run("run x").status == .ok)
    }

    @Test(
        "An option without a value is refused by name in schedule edit as in schedule add, and the job stays as it was",
        arguments: ["--at", "--hook-timeout", "--keep-last", "--keep-within", "--on-failure", "--on-success", "--to"])
    func emptyValue(option: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        let before = try home.folder.read("home/.local/share/kcbackup/jobs/x.job")
        let to = option == "--to" ? [] : ["--to", "c"]
        for words in [["edit", "x"], ["add", "y", "--unencrypted"] + to] {
            let outcome = home.run(["schedule"] + words + [option, ""])
            #expect(outcome.status == .usage && outcome.messages.contains("'\(option)"), "\(outcome.messages)")
        }
        #expect(try home.folder.read("home/.local/share/kcbackup/jobs/x.job") == before)
    }

    @Test("A job of another device is named as such")
    func otherDevice() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("device adopt --new-key").status == .ok)
        let outcome = home.run("run x")
        #expect(outcome.status == .refused)
        #expect(outcome.messages.hasPrefix("kcbackup: error: job 'x' was added on device KC-"), "\(outcome.messages)")
        #expect(outcome.messages.contains("'kcbackup schedule remove x'"))
    }

    @Test("A damaged record of the last run stops neither the next backup nor its hook, and is replaced")
    func damagedRecord() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("hook", "#!/bin/sh\necho ran >>\(home.path("hooked"))\n", mode: 0o700)
        #expect(
            home.run(["schedule", "add", "x", "--unencrypted", "--to", "b", "--on-success", home.path("hook")]).status
                == .ok)
        #expect(home.run("run x").status == .ok)
        let path = "home/.local/share/kcbackup/jobs/x.last"
        let genuine = try home.folder.read(path)
        for index in stride(from: 0, to: genuine.count, by: 7) {
            var changed = genuine
            changed[index] ^= 1
            try home.folder.write(path, changed, mode: 0o600)
            #expect(home.run("status").status == .damaged, "\(index)")
        }
        let doctor = home.run("doctor")
        #expect(doctor.status == .damaged)
        #expect(doctor.text.hasPrefix("the record of the last run of job 'x' is damaged"), "\(doctor.text)")
        let run = home.run("run x")
        #expect(run.status == .ok)
        #expect(run.messages.contains("the record of the last run of job 'x' is damaged"), "\(run.messages)")
        #expect(run.messages.contains("; this run writes a new one\n"))
        #expect(String(decoding: try home.folder.read("work/hooked"), as: UTF8.self) == "ran\nran\n")
        #expect(home.run("status").status == .ok)
    }

    @Test("A run whose record cannot be written backs up, says so, and calls the hook")
    func unwritableRecord() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write(
            "hook", "#!/bin/sh\necho $KCBACKUP_RESULT $KCBACKUP_ARCHIVES >\(home.path("hooked"))\n", mode: 0o700)
        #expect(
            home.run(["schedule", "add", "x", "--unencrypted", "--to", "b", "--on-failure", home.path("hook")]).status
                == .ok)
        // A folder in the place of the record cannot be replaced.
        try FileManager.default.createDirectory(
            atPath: home.folder.path("home/.local/share/kcbackup/jobs/x.last"), withIntermediateDirectories: false)
        let run = home.run("run x")
        #expect(run.status == .io)
        #expect(
            run.messages.contains("kcbackup: error: job 'x': the backup is done, but the record of this run"),
            "\(run.messages)")
        #expect(String(decoding: try home.folder.read("work/hooked"), as: UTF8.self) == "io 1\n")
        #expect(home.run("list b --columns state").text == "STATE\nok\n")
    }
}
