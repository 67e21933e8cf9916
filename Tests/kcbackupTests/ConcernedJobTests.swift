import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Commands that change what jobs use, after which a job would fail night after night.
@Suite("Jobs and what they share with other commands")
struct ConcernedJobTests {
    private let home: TestHome
    private let classic: String
    private let postQuantum: String

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("new", "orbit lantern velvet\n")
        for line in ["keygen -o classic.txt", "keygen --post-quantum -o pq.txt"] {
            #expect(home.run(line).status == .ok)
        }
        classic = try Self.recipient("classic.txt", home)
        postQuantum = try Self.recipient("pq.txt", home)
    }

    private static func recipient(_ name: String, _ home: TestHome) throws -> String {
        let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /age1\w+/)).0)
    }

    private func expect(_ line: String, _ status: KCTerminal.ExitStatus = .ok, says words: String...) {
        let outcome = home.run(line)
        #expect(outcome.status == status, "\(line): \(outcome.messages)")
        for words in words { #expect(outcome.messages.contains(words), "\(line): \(outcome.messages)") }
    }

    private func makeKeychain() {
        expect("keychain create --no-passcode")
        expect("item add --service a --secret file:passcode")
    }

    @Test("A kit beside which the keys of a job cannot stand is not made, and the hint makes room for it")
    func postQuantumKit() throws {
        makeKeychain()
        expect("schedule add nightly --keychain login --to b -r \(classic)")
        expect("run nightly")
        expect(
            "recovery make --post-quantum -o kit.txt", .usage,
            says: "job 'nightly' would fail from now on: the keys of its archives are not post-quantum, and the kit is",
            "without '--post-quantum', the kit fits", "'kcbackup schedule edit nightly --recipient age1pq1… --change'")
        #expect(home.run("recovery list").text.isEmpty)
        #expect(try !Path.exists(home.path("kit.txt")))
        expect("schedule edit nightly -r \(postQuantum) --change")
        expect("recovery make --post-quantum -o kit.txt")
        expect("run nightly --change")
    }

    @Test("A classic kit is not made beside a job with post-quantum keys; jobs of both kinds leave only one way")
    func classicKit() {
        makeKeychain()
        expect("schedule add nightly --keychain login --to b -r \(postQuantum)")
        expect(
            "recovery make -o kit.txt", .usage,
            says: "the keys of its archives are post-quantum, and the kit is not",
            "'--post-quantum' makes a kit that fits")
        expect("schedule add desk --keychain login --to c --inspect-recipient \(classic) --passphrase file:passcode")
        let outcome = home.run("recovery make -o kit.txt")
        #expect(outcome.status == .usage && !outcome.messages.contains("makes a kit that fits"), "\(outcome.messages)")
        // Passphrases and unencrypted archives fit every kit, and a job that cannot be read hides none.
        expect("schedule remove nightly")
        expect("schedule add words --keychain login --to d --passphrase file:passcode")
        expect("schedule add clear --keychain login --to e --unencrypted")
        expect("recovery make -o kit.txt")
    }

    @Test("A job whose recipients no longer fit is not installed, and doctor says why")
    func installed() throws {
        makeKeychain()
        try home.write("keys.txt", classic + "\n")
        expect("schedule add nightly --keychain login --to b -R keys.txt")
        expect("recovery make -o kit.txt")
        try home.write("keys.txt", postQuantum + "\n")
        expect("schedule install nightly", .usage, says: "is not post-quantum, so it cannot open archives together")
        expect("schedule show nightly", says: "warning: a run would fail: recovery kit")
        let doctor = home.run("doctor")
        #expect(doctor.status == .usage && doctor.text.contains("is not post-quantum"), "\(doctor.text)")
    }

    @Test("A new passcode that a job does not have is told")
    func passcode() {
        expect("keychain create --passcode file:passcode")
        expect("item add --service a --secret file:passcode --passcode file:passcode")
        expect("schedule add nightly --keychain login --to b -r \(classic) --passcode file:passcode")
        expect("schedule add all --all --to c -r \(classic) --passcode file:new")
        expect("schedule add clear --keychain login --to d --unencrypted")
        let outcome = home.run("keychain set-passcode --passcode file:passcode --new-passcode file:new --yes")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("job 'nightly' takes the passcode of keychain 'login' from '"))
        #expect(!outcome.messages.contains("job 'all'") && !outcome.messages.contains("job 'clear'"))
    }

    @Test("A first passcode, without which a job fails, is told, also of a new keychain that a job backs up")
    func firstPasscode() {
        makeKeychain()
        expect("schedule add all --all --to c -r \(classic)")
        expect("keychain create work --no-passcode")
        expect(
            "keychain create third --passcode file:passcode",
            says: "job 'all': keychain 'third' has a passcode, and the job has none: "
                + "it fails while the keychain is locked\n"
                + "kcbackup: hint: 'kcbackup schedule edit all --passcode file:PATH', or '--escrow FILE'")
        expect(
            "keychain set-passcode --new-passcode file:new --yes",
            says: "job 'all': keychain 'login' has a passcode, and the job has none: "
                + "it fails while the keychain is locked\nkcbackup: hint: back up each by itself")
        // The hint from before there were two passcodes.
        expect(
            "schedule edit all --passcode file:new",
            says: "job 'all': keychains 'login', 'third' have a passcode each, and '--passcode' gives that of one")
    }

    @Test("One passcode of several keychains is tried on none of them, and what needs none is backed up")
    func passcodeOfSeveral() throws {
        expect("keychain create --passcode file:passcode")
        expect("keychain create plain --no-passcode")
        let options = "-r \(classic) --passcode file:passcode"
        expect("schedule add all --all --to c \(options)")
        expect("run all")
        let words = "keychains 'login', 'work' have a passcode each, and '--passcode' gives that of one"
        expect("keychain create work --passcode file:new", says: "job 'all': \(words)")
        for line in ["run all", "create --all --to d \(options)", "create --all --to d \(options)"] {
            expect(line, .usage, says: words)
        }
        #expect(home.run("doctor").text.contains(words))
        expect("schedule add other --all --to e \(options)", says: "job 'other': \(words)", "keychain escrow enable")
        #expect(try ["login", "work"].map { try home.wrongPasscodes($0) } == [0, 0])
        #expect(Set(home.run("list d --columns keychain").text.split(separator: "\n").dropFirst()) == ["plain"])
    }

    @Test("Where several keychains have a passcode each, no hint says to give one, which would be refused")
    func hintsOfSeveral() {
        expect("keychain create --passcode file:passcode")
        expect("schedule add all --all --to c -r \(classic)")
        let create = "create --all --to d -r \(classic)"
        let escrow = "'--escrow FILE' takes a file that has those of all"
        let one = home.run(create)
        #expect(one.status == .locked && one.messages.contains("'--passcode SOURCE'"), "\(one.messages)")
        #expect(!one.messages.contains(escrow), "\(one.messages)")
        expect("keychain create work --passcode file:new")
        let several = home.run(create)
        #expect(several.status == .locked && !several.messages.contains("--passcode"), "\(several.messages)")
        #expect(several.messages.ranges(of: escrow).count == 2, "\(several.messages)")
        #expect(several.messages.contains("'kcbackup keychain unlock work' opens it"), "\(several.messages)")
        let job = home.run(["run", "all"], terminal: ScriptedTerminal(showsMessages: true))
        #expect(job.status == .locked && !job.messages.contains("--passcode"), "\(job.messages)")
        #expect(job.messages.contains(escrow), "\(job.messages)")
    }

    @Test("The end of an escrow key that a job uses is told")
    func escrow() {
        expect("keychain create --passcode file:passcode")
        expect("keychain escrow enable -o escrow --passcode file:passcode")
        expect("schedule add nightly --keychain login --to b -r \(classic) --escrow escrow")
        expect(
            "keychain escrow revoke",
            says: "job 'nightly' fails without an escrow key of keychain 'login'", "escrow enable login")
    }

    /// Expects that doctor finds what a run of a job says, and that the run ends with it.
    private func expectRefusal(of job: String, _ status: KCTerminal.ExitStatus, says words: String) {
        let doctor = home.run("doctor")
        #expect(doctor.status == status && doctor.text.contains(words), "\(doctor.text)")
        expect("run \(job)", status, says: words)
    }

    @Test("After a rekey of its folder, a job with the old keys is told at once and by doctor, and takes the new ones")
    func rekeyed() throws {
        makeKeychain()
        expect("keygen -o new.txt")
        let new = try Self.recipient("new.txt", home)
        expect("schedule add nightly --keychain login --to b -r \(classic)")
        for line in ["run nightly", "doctor"] { expect(line) }
        expect(
            "rekey b -i classic.txt -r \(new)",
            says: "job 'nightly' encrypts to other keys", "'kcbackup schedule edit nightly --recipient NEW'")
        expectRefusal(
            of: "nightly", .refused, says: "open with other keys: 1 key would be missing, and 1 would be new")
        #expect(home.run("doctor").text.contains("'kcbackup schedule edit nightly --recipient NEW'"))
        expect("schedule edit nightly -r \(new)")
        for line in ["run nightly", "doctor"] { expect(line) }
        let again = home.run("rekey b -i new.txt -r \(new)")
        #expect(again.status == .ok && !again.messages.contains("job 'nightly'"), "\(again.messages)")
    }

    @Test("Doctor refuses what a run would: backups of another kind, a keychain that was replaced or is gone")
    func otherBackups() {
        makeKeychain()
        expect("keychain create work --no-passcode")
        expect("schedule add one --keychain login --to b -r \(classic)")
        expect("schedule add all --all --to c -r \(classic)")
        for line in ["run one", "run all", "doctor", "create --keychain login --unencrypted --to b --change"] {
            expect(line)
        }
        expectRefusal(of: "one", .refused, says: "are unencrypted, and this one would not be")
        for line in ["run one --change", "keychain delete login --confirm login"] { expect(line) }
        expect("keychain create login --no-passcode")
        expect("item add --service a --secret file:passcode --keychain login")
        let replaced = "are of another keychain 'login', which was deleted or replaced since"
        for job in ["one", "all"] { expectRefusal(of: job, .refused, says: replaced) }
        for line in ["run one --change", "run all --change", "doctor", "keychain delete work --confirm work"] {
            expect(line)
        }
        expectRefusal(of: "all", .shrunk, says: "keychain 'work' no longer exists, and there are backups of it here")
    }

    @Test("Units of an earlier job are told when another gets its name, and doctor finds what systemd would not start")
    func services() throws {
        makeKeychain()
        expect("schedule add nightly --keychain login --to b --unencrypted --passcode cred:door")
        expect("schedule install nightly")
        let doctor = home.run("doctor")
        #expect(doctor.status == .notFound && doctor.text.contains("/.config/kcbackup/door' does not exist"))
        try Path.makeFolder(home.home + "/.config/kcbackup")
        try home.folder.write("home/.config/kcbackup/door", Array("x\n".utf8))
        for line in ["doctor", "schedule remove nightly"] { expect(line) }
        expect(
            "schedule add nightly --keychain login --to b --unencrypted --on-success true",
            says: "the units of an earlier job 'nightly' are installed, and do not fit this one")
        let other = home.run("doctor")
        #expect(other.status == .refused && other.text.contains("was written for a job with other options"))
        for line in ["schedule install nightly", "doctor", "schedule remove nightly"] { expect(line) }
        let same = home.run("schedule add nightly --keychain login --to b --unencrypted --on-success true")
        #expect(same.status == .ok && !same.messages.contains("earlier job"), "\(same.messages)")
    }

    @Test("A keychain that does not exist is told when a job is added that backs it up")
    func missing() {
        makeKeychain()
        let words = "there is no keychain 'logni', and job 'nightly' fails until it is made"
        expect("schedule add nightly --keychain logni --to b --unencrypted", says: words)
        expect("schedule edit nightly --at hourly", says: words)
        expect("schedule edit nightly --keychain login --change")
        #expect(!home.run("schedule edit nightly --at daily").messages.contains("there is no keychain"))
    }

    @Test("The jobs of a keychain are told before it is deleted")
    func deleted() {
        makeKeychain()
        expect("keychain create work --no-passcode")
        expect("schedule add nightly --keychain login --to b -r \(classic)")
        expect("schedule add all --all --to c -r \(classic)")
        expect("run all")
        let outcome = home.run("keychain delete work --confirm work")
        #expect(outcome.messages.contains("job 'all' backs it up with the others"), "\(outcome.messages)")
        #expect(!outcome.messages.contains("nightly"))
        expect("run all", .shrunk)
        expect("run all --change")
        expect("keychain delete login --confirm other", .refused, says: "job 'nightly' backs it up, and will fail")
    }
}
