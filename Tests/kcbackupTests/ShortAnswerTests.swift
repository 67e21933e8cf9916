import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs the real programs where a system call returns less than requested, or where there is no room for a result.
@Suite("The programs when system calls return less than requested", .waitsForPrograms, .traced)
struct ShortAnswerTests {
    private let shell: ProgramShell

    init() throws {
        shell = try ProgramShell()
    }

    @Test("An archive is read completely even if the first read is short", arguments: [1, 100, 512, 600])
    func shortFirstRead(count: Int) throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            "$KCBACKUP" create --unencrypted a.kcb -q
            start=$(head -c \(count) a.kcb | od -An -v -tx1 | tr -d ' \\n')
            $STRACE -f -qq -o log -P "$PWD/a.kcb" -e trace=pread64 \\
              -e "inject=pread64:retval=\(count):poke_exit=@arg2=$start:when=1" "$KCBACKUP" verify a.kcb
            echo $?
            grep -c "= \(count) (INJECTED" log
            """)
        #expect(outcome.text == "a.kcb: genuine, 0 items\norigin: this device\n0\n1\n", "\(outcome.errorText)")
    }

    @Test("Without random numbers, nothing is created, and one line says so")
    func noRandomNumbers() throws {
        let outcome = try shell(
            """
            mkdir work; cd work; export HOME=$PWD
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            "$KCBACKUP" keygen -o id.txt -q 2>/dev/null
            recipient=$(grep -o 'age1.*' id.txt)
            echo walnut-stapler-93 >code; chmod 600 code; mkdir new
            find . -type f ! -name '*.lock' ! -name .place | sort | xargs sha256sum >../before
            try() { inject getrandom:error=$1 "$KCBACKUP" "${@:2}" 2>../err; echo $? $(grep error: ../err); }
            for code in ENOSYS EIO; do
              try $code create -r "$recipient" a.kcb
              try $code create --unencrypted a.kcb
              try $code create --passphrase file:code a.kcb
              try $code keychain create work --no-passcode
              try $code keychain create work --passcode file:code
              try $code keychain set-passcode --new-passcode file:code
              try $code item add --service a --secret file:code
              try $code keygen -o id2.txt
              HOME=$PWD/new try $code keychain create --no-passcode
            done | sort | uniq -c
            find . -type f ! -name '*.lock' ! -name .place | sort | xargs sha256sum | diff ../before -
            """)
        let line =
            "18 74 kcbackup: error: the operating system provides no random numbers, so no key can be made"
        #expect(outcome.text.trimmingCharacters(in: .whitespacesAndNewlines) == line, "\(outcome.errorText)")
    }

    @Test("Without O_TMPFILE, files of a killed run are removed, and its folders from a private folder alone")
    func sweep() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            for mode in 700 777 1777; do
              mkdir -m $mode $mode $mode/.restoring-x000000000000
              touch $mode/.kcbackup-1000000000000.tmp $mode/.restoring-x000000000000/f
              # In a shared folder, the file itself is opened before it is removed.
              $STRACE -f -qq -o log -P "$PWD/$mode" -e trace=openat \\
                -e inject=openat:error=EOPNOTSUPP:when=$([ $mode = 700 ] && echo 2 || echo 3) \\
                "$KCBACKUP" create --unencrypted $mode/a.kcb
              echo $? $(grep -c "O_TMPFILE.*INJECTED" log) $(ls -A $mode)
            done
            """)
        let spared = "0 0 .restoring-x000000000000 a.kcb\n"
        #expect(outcome.text == "0 1 a.kcb\n" + spared + spared, "\(outcome.errorText)")
    }

    @Test(
        "The error for a full disk names the file that has no room",
        .enabled(if: geteuid() == 0, "mounting takes root"))
    func fullDisk() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            mkdir -m 700 full
            unshare -m bash -c '
              mount -t tmpfs -o size=8k,mode=700 none full
              for bytes in 8192 4096; do
                head -c $bytes /dev/zero >full/other
                "$KCBACKUP" create --unencrypted full/a.kcb; echo $?
                (cd full; "$KCBACKUP" create --unencrypted a.kcb; echo $?)
                ls -A full
              done' 2>&1
            """)
        let hint = "kcbackup: hint: make room, or choose another folder\n74\n"
        let once = ["full/a.kcb", "a.kcb"].map { "kcbackup: error: writing '\($0)': no space is left\n" + hint }
        let text = once.joined() + "other\n"
        #expect(outcome.text == text + text)
    }

    @Test("The error for a full standard output names it, and what was created before stays")
    func fullOutput() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            echo swordfish >secret; chmod 600 secret
            "$KCBACKUP" item add --service a --secret file:secret
            for words in "create --unencrypted a.kcb --json" "item list --json" "item list" "inspect a.kcb --json" \\
              "inspect a.kcb" "verify a.kcb --json" "item find --service a --reveal" "keychain info --json"; do
              "$KCBACKUP" $words 2>&1 >/dev/full; echo $?
            done | sort | uniq -c
            "$KCBACKUP" verify a.kcb
            """)
        let lines = outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            Set(lines) == [
                "8 74", "7 kcbackup: error: standard output does not accept the result: writing: no space is left",
                "7 kcbackup: hint: make room where the output goes",
                "1 kcbackup: error: a.kcb: 1 item of keychain 'login', 6.5 KiB, but standard output does not accept the "
                    + "result: writing: no space is left",
                "1 kcbackup: hint: it is done, and only the output is missing: do not repeat it",
                "a.kcb: genuine, 1 item", "origin: this device", "1 item opened",
            ], "\(outcome.text)")
    }

    @Test(
        "Without /proc, the program fails and says what to mount", .enabled(if: geteuid() == 0, "unmounting takes root")
    )
    func withoutProc() throws {
        let outcome = try shell(
            #"""
            unshare -m bash -c 'umount -l /proc; "$KCBACKUP" keychain create --no-passcode; echo $?' 2>&1; ls -A
            """#)
        #expect(
            outcome.text == """
                kcbackup: error: the command line cannot be read, since '/proc/self/maps' cannot; nothing was done
                kcbackup: hint: 'mount -t proc proc /proc' mounts what is missing in a chroot or a container
                kcbackup: hint: where it is mounted, see whether a sandbox or a limit on open files ('ulimit -n') \
                forbids opening it
                74

                """)
    }
}
