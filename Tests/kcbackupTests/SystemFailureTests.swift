import Foundation
import KCKeychainModel
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs the real programs under strace(1), which makes calls fail or kills the program, and with the rights of other
/// users.
@Suite("The programs when the system fails", .waitsForPrograms, .traced)
struct SystemFailureTests {
    private let shell: ProgramShell

    init() throws {
        shell = try ProgramShell()
    }

    @Test("A program that cannot read its arguments fails", arguments: ["EACCES", "EMFILE", "ENOENT"])
    func arguments(code: String) throws {
        let outcome = try shell(
            """
            for program in "$KCBACKUP" "$SECURITY"; do
              $STRACE -f -qq -o /dev/null -P /proc/self/maps -P /proc/self/cmdline -e trace=openat \\
                -e inject=openat:error=\(code) "$program" list-keychains >out 2>err
              echo $? $(wc -c <out) $(grep -c -e "the arguments cannot be read" -e "mount -t proc" err)
            done
            """)
        #expect(outcome.text == "74 0 1\n2 0 1\n", "\(outcome.errorText)")
    }

    @Test(
        "If a restore is killed while naming a new keychain, it opens or does not exist, and the next run cleans up"
    )
    func killedRestore() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            echo swordfish >secret; chmod 600 secret
            "$KCBACKUP" item add --service a --secret file:secret
            "$KCBACKUP" create --unencrypted a.kcb -q
            restore="$KCBACKUP restore a.kcb --keychain new"
            inject renameat2:signal=KILL:when=1 $restore 2>/dev/null
            echo killed $?
            "$KCBACKUP" item list --keychain new >/dev/null 2>&1; echo $?
            $restore -q --on-conflict keep; echo $?
            "$KCBACKUP" item find --service a --reveal --keychain new; echo
            "$KCBACKUP" restore a.kcb --keychain another -q
            ls -A .local/share/kcbackup/keychains | grep -v -e "\\.lock$" -e "\\.keychain$"
            """)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.first == "killed 137", "\(outcome.errorText)")
        #expect(["0", "10"].contains(lines[1]))
        #expect(lines.dropFirst(2) == ["0", "swordfish"])
    }

    @Test(
        "If a file system can neither link nor rename without replacing, nothing gets the name, not even an empty file"
    )
    func noSafeNaming() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            $STRACE -f -qq -o /dev/null -e trace=openat,renameat2,linkat -e inject=linkat:error=EPERM \\
              -e inject=renameat2:error=EINVAL "$KCBACKUP" create --unencrypted a.kcb
            echo $?
            ls -A
            """)
        #expect(outcome.text.hasPrefix("74\n"), "\(outcome.errorText)")
        #expect(!outcome.text.contains("kcb"))
    }

    @Test("If the folder cannot be synced after the archive has its name, the error says that it may be lost")
    func folderNotDurable() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            $STRACE -f -qq -o log -e trace=fsync,linkat "$KCBACKUP" create --unencrypted a.kcb
            last=$(grep -c fsync log)
            inject fsync:error=EIO:when=$last "$KCBACKUP" create --unencrypted b.kcb 2>err
            echo $?
            grep -c "may be lost in a power cut" err
            "$KCBACKUP" verify b.kcb >/dev/null; echo $?
            """)
        #expect(outcome.text == "74\n1\n0\n", "\(outcome.errorText)")
    }

    @Test("A new keychain that cannot be opened afterwards counts as created, and the exit code is 0")
    func madeAndNotOpened() throws {
        let outcome = try shell(
            """
            $STRACE -f -qq -o /dev/null -P "$PWD/.local/share/kcbackup/keychains/login.keychain" -e trace=openat \\
              -e inject=openat:error=EMFILE "$KCBACKUP" keychain create --no-passcode --json >out 2>err
            echo $?
            grep -c "created, but cannot be opened" err
            "$KCBACKUP" keychain info >/dev/null; echo $?
            """)
        #expect(outcome.text == "0\n1\n0\n", "\(outcome.errorText)")
    }

    @Test("A keychain whose lock file cannot be removed is deleted, and the lock file is named")
    func lockStays() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create work --no-passcode -q 2>/dev/null
            lock=.local/share/kcbackup/keychains/work.keychain.lock
            $STRACE -f -qq -o /dev/null -P "$PWD/$lock" -e trace=unlink,unlinkat -e inject=unlink,unlinkat:error=EIO \\
              "$KCBACKUP" keychain delete work --confirm work 2>err
            echo $?
            grep -c "work.keychain.lock" err
            "$KCBACKUP" keychain info work 2>/dev/null; echo $?
            """)
        #expect(outcome.text == "0\n1\n10\n", "\(outcome.errorText)")
    }

    @Test("A failing disk is not reported as a missing keychain")
    func failingDisk() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            $STRACE -f -qq -o /dev/null -P "$PWD/.local/share/kcbackup/keychains/login.keychain" -e trace=%lstat,newfstatat,statx \\
              -e inject=%lstat,newfstatat,statx:error=EIO "$KCBACKUP" item list 2>err
            echo $?
            grep -c "input or output error" err
            """)
        #expect(outcome.text == "74\n1\n", "\(outcome.errorText)")
    }

    @Test("A folder of the home that cannot be listed is named, and the backup is incomplete")
    func unlistedFolder() throws {
        let outcome = try shell(
            """
            mkdir .ssh; echo key >.ssh/id_rsa; echo machine a >.netrc; chmod -R go= .ssh .netrc
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            $STRACE -f -qq -o /dev/null -P "$PWD/.ssh" -e trace=getdents64 -e inject=getdents64:error=EIO \\
              "$KCBACKUP" create --keychain home: --unencrypted a.kcb -q 2>err
            echo $?
            grep -c "left out: '~/.ssh'" err
            """)
        #expect(outcome.text == "3\n1\n", "\(outcome.errorText)")
    }

    @Test("An archive that is not in the catalogue yet, and cannot be read then, is entered by a later run")
    func unreadableWhenEntered() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            $STRACE -f -qq -o /dev/null -e trace=renameat -e inject=renameat:error=EIO:when=2 \\
              "$KCBACKUP" create --unencrypted --to backups -q 2>err
            grep -c "the next run enters it into the catalogue" err
            archive=$(echo "$PWD"/backups/*.kcb)
            $STRACE -f -qq -o /dev/null -P "$archive" -e trace=openat -e inject=openat:error=EIO \\
              "$KCBACKUP" prune "$PWD/backups" --keep-last 1 2>err
            echo $?
            grep -c "input or output error" err
            "$KCBACKUP" prune backups --keep-last 1 --json | grep -c '"counted":true'
            """)
        #expect(outcome.text == "1\n74\n1\n1\n", "\(outcome.errorText)")
    }

    @Test(
        "A run that cannot read the file of another job since the disk fails removes nothing, says so, and ends with 3",
        arguments: ["openat", "pread64"])
    func unreadableJob(call: String) throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            "$KCBACKUP" schedule add x --unencrypted --to backups --keep-last 1 -q
            "$KCBACKUP" schedule add y --unencrypted --to others -q
            "$KCBACKUP" run x -q 2>/dev/null
            $STRACE -f -qq -o /dev/null -P "$PWD/.local/share/kcbackup/jobs/y.job" -e trace=\(call) \\
              -e inject=\(call):error=EIO "$KCBACKUP" run x -q 2>err
            echo $?
            grep -c "nothing is removed in .*: job 'y' cannot be read" err
            ls backups | grep -c 'kcb$'
            "$KCBACKUP" run x -q 2>/dev/null; echo $?
            ls backups | grep -c 'kcb$'
            """)
        #expect(outcome.text == "3\n1\n2\n0\n1\n", "\(outcome.errorText)")
    }

    @Test("System calls that signals interrupt at the lock, at fsync and at linkat do not make a run fail")
    func interruptedCalls() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            for call in fsync linkat flock; do
              inject $call:error=EINTR:when=1 "$KCBACKUP" create --unencrypted $call.kcb -q; echo $?
            done
            $STRACE -f -qq -o /dev/null -P "$PWD/.local/share/kcbackup/keychains/login.keychain.lock" -e trace=openat \\
              -e inject=openat:error=EINTR:when=1 "$KCBACKUP" item add --service a --no-secret -q; echo $?
            """)
        #expect(outcome.text == "0\n0\n0\n0\n", "\(outcome.errorText)")
    }

    @Test("A run completes even if no more memory can be mapped")
    func noMappings() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            $STRACE -f -qq -o log -e trace=mmap "$KCBACKUP" item list
            calls=$(grep -c mmap log)
            inject mmap:error=ENOMEM:when=$((calls - 3))+ "$KCBACKUP" item list >/dev/null; echo $?
            """)
        #expect(outcome.text == "0\n", "\(outcome.errorText)")
    }

    @Test(
        "With another user's rights, or in another user's home folder, nothing is done",
        .enabled(if: geteuid() == 0, "becoming another user takes root"))
    func otherUsers() throws {
        let outcome = try shell(
            """
            setpriv --ruid 65534 --clear-groups "$KCBACKUP" keychain list 2>&1 | head -1
            setpriv --rgid 65534 --clear-groups "$SECURITY" list-keychains 2>&1 | tail -1
            mkdir home; chown 65534 home
            HOME=$PWD/home "$KCBACKUP" keychain create --no-passcode 2>&1 | head -1; echo ${PIPESTATUS[0]}
            HOME=$PWD/home "$SECURITY" create-keychain -p x y 2>/dev/null; echo $?
            ls -A home
            """)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 5, "\(outcome.text)")
        #expect(
            lines[0].contains("with the rights of another user") && lines[1].contains("with the rights of another user")
        )
        #expect(lines[2].contains("belongs to another user (UID 65534)"))
        #expect(lines[3] == "4" && lines[4] != "0")
    }

    @Test("The descriptor of fd:N is not inherited by the command of cmd:")
    func descriptors() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --passcode 'cmd:echo walnut' -q 2>/dev/null
            "$KCBACKUP" item add --service a --passcode fd:7 --secret 'cmd:ls /proc/self/fd | tr "\\n" ,' 7< <(echo walnut)
            "$KCBACKUP" item find --service a --reveal --passcode 'cmd:echo walnut'
            # What was read to its end can be opened again by this name, from its beginning.
            echo walnut >code
            "$KCBACKUP" item add --service b --passcode fd:0 --secret 'cmd:cat /dev/stdin; echo nothing' <code
            "$KCBACKUP" item find --service b --reveal --passcode 'cmd:echo walnut'
            """)
        // ls itself has the folder open as 3.
        #expect(outcome.text == "0,1,2,3,nothing", "\(outcome.errorText)")
    }

    @Test("A time that no archive can represent is refused before any prompt", arguments: [Int64(-1), 1 << 33])
    func clock(seconds: Int64) throws {
        let home = try TestHome()
        _ = home.run("keychain create --no-passcode")
        var world = home.world()
        world.machine.clock = { Timestamp(microseconds: seconds * 1_000_000) ?? .reference }
        let messages = CollectedOutput()
        world.messages = messages
        #expect(CommandLineTool.program.run(["create", "--unencrypted", "a.kcb"], in: world) == .refused)
        #expect(messages.text.contains("set the clock"))
    }
}
