import KCTestSupport
import Testing

/// Replays what happens where GNOME Keyring and oo7 are used in turn, each with a file of its own.
///
/// GNOME Keyring writes the old file; libsecret writes the file of version 1, whose form oo7 has from it.
@Suite("Two versions of a keyring", .waitsForPrograms)
struct DesktopMergeTests {
    private let shell: DesktopShell

    init() throws {
        shell = try DesktopShell(
            desktop: DesktopTests.judge.get(),
            preparation: desktopFunctions + #"""

                folder=$HOME/.local/share/keyrings old=$folder/login.keyring new=$folder/v1/login.keyring
                mkdir -p $folder/v1
                # Stores in the file of version 1: the secret, and the label, which is also the attribute.
                store() {
                  printf %s "$1" | SECRET_BACKEND=file SECRET_FILE_TEST_PATH=$new SECRET_FILE_TEST_PASSWORD=pw \
                    secret-tool store --label="$2" name "$2"
                }
                # The secret in the running service.
                look() { secret-tool lookup name "$1" || true; echo; }
                shown() { sed "s:$HOME:~:g; s/changed 20[-0-9]* [0-9:]* UTC/changed …/g"; }
                diverge() {
                  keyring
                  for item in bank mail wiki; do
                    $DESKTOP add login $item first-$item name $item
                    store first-$item $item
                  done
                  touch -d '1 hour ago' $old.migrated
                  for day in 1 2 3 4 5 6 7 8 9 10 11; do
                    $DESKTOP add login old$day secret-old$day name old$day
                    store secret-new$day new$day
                  done
                  store changed-in-new mail
                  $DESKTOP secret login/1 changed-in-old
                  store changed-too bank
                }
                merge() { $KCBACKUP import $new --into secret-service: --password file:pw "$@"; }

                """#)
    }

    @Test("After eleven days of both, a merge loses nothing, and names what has two secrets")
    func elevenDays() throws {
        let text = try shell.run(
            #"""
            diverge
            status=0; merge --json 2>messages >result || status=$?
            echo $status; jq -c '.plan, [.kept[].attributes.labl]' result
            grep hint messages
            for day in 1 2 3 4 5 6 7 8 9 10 11; do look old$day; look new$day; done | grep -c '^secret-'
            look bank; look mail; look wiki
            merge --json 2>/dev/null | jq -c .plan || true
            $KCBACKUP undo --yes 2>/dev/null
            look new1; look old11
            """#)
        #expect(
            text == """
                3
                {"create":11,"update":0,"same":1,"keep":2,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                ["bank","mail"]
                kcbackup: hint: '--on-conflict newer' takes the newer version of each, and 'overwrite' the file's
                22
                changed-in-old
                first-mail
                first-wiki
                {"create":0,"update":0,"same":12,"keep":2,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}

                secret-old11

                """)
    }

    @Test("The newer secret wins only if that is asked for")
    func newer() throws {
        let text = try shell.run(
            #"""
            keyring
            $DESKTOP add login bank before name bank
            store old mail
            tick
            store after bank
            tick
            $DESKTOP add login mail after name mail
            try merge --on-conflict fail | sed 's/error: //'
            merge --on-conflict newer --json 2>/dev/null | jq -c .plan
            look bank; look mail
            """#)
        #expect(
            text == """
                16 2 items would change one that is there; nothing was written
                {"create":0,"update":1,"same":0,"keep":1,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                after
                after

                """)
    }

    @Test("A difference of the two files is shown as one of versions, whatever their names and dates")
    func compared() throws {
        let text = try shell.run(
            #"""
            diverge
            $KCBACKUP diff $old $new --password file:pw >differences
            grep -c '^added.*new' differences; grep -c '^removed.*old' differences; grep -v '^added\|^removed' differences
            $KCBACKUP diff $new --keychain secret-service: --password file:pw | tail -1
            cp $new other.keyring
            $KCBACKUP diff $new other.keyring --password file:pw
            $KCBACKUP create --keychain file:$folder all.kcb --password file:pw -r $key 2>/dev/null
            $KCBACKUP inspect all.kcb -i key.txt --json | jq '.items | length'
            """#)
        #expect(
            text == """
                11
                11
                changed  generic password 'bank': secret rotated
                changed  generic password 'mail': secret rotated
                11 added, 11 removed, 2 changed, 1 the same
                11 added, 11 removed, 2 changed, 1 the same
                14 the same
                28

                """)
    }

    @Test("What a merge cannot bring is named, and does not look like success; a folder is not merged")
    func behind() throws {
        let text = try shell.run(
            #"""
            keyring
            printf bound | SECRET_BACKEND=file SECRET_FILE_TEST_PATH=$new SECRET_FILE_TEST_PASSWORD=pw \
              secret-tool store --label=bound name bound kcbackup:accessible aku
            store free free
            status=0; merge --on-conflict overwrite 2>messages || status=$?
            echo $status; grep -c "stays behind: 'bound'" messages
            status=0; $KCBACKUP diff $old $new --password file:pw 2>messages || status=$?
            echo $status; grep -c "not compared: 1 item" messages
            try $KCBACKUP import $folder --into secret-service: --password file:pw | cut -c1-32
            # The label does not depend on how the file is named.
            cd $folder/v1
            $KCBACKUP import ./login.keyring --into secret-service: --password file:$HOME/pw --dry-run 2>/dev/null || echo $?
            $KCBACKUP inspect login.keyring --password file:$HOME/pw | grep -c "keyring 'Login'"
            """#)
        #expect(
            text == """
                3
                1
                1 the same
                3
                1
                64 error: an import into the des
                would import nothing into the desktop keyring: 1 the same
                3
                1

                """)
    }

    @Test("A record without a date is not newer than anything, however new its file is")
    func undated() throws {
        let text = try shell.run(
            #"""
            keyring
            printf 'name,url,username,password,note\na,https://a.example,ada,before,\n' >table.csv; chmod 600 table.csv
            $KCBACKUP import table.csv --into secret-service: 2>/dev/null
            $DESKTOP secret login/1 after
            tick; touch table.csv
            $KCBACKUP import table.csv --into secret-service: --on-conflict newer --json 2>/dev/null | jq -c '.plan.update, .plan.keep'
            """#)
        #expect(
            text == """
                0
                1

                """)
    }

    @Test("A merge that is killed is finished by the same merge, and one undo takes back both", .traced)
    func killed() throws {
        let text = try shell.run(
            #"""
            keyring
            $DESKTOP add login first secret name first
            for item in $(seq 60); do store $item $item; done
            dump >before
            slowly $KCBACKUP import $new --into secret-service: --password file:pw -q
            until secret-tool search name 1 2>/dev/null | grep -q label; do step; done
            pkill -KILL -P $tracer; wait $tracer || true
            merge --json 2>/dev/null | jq -c '.plan.create > 0'
            look 1; look 60
            $KCBACKUP undo --yes 2>/dev/null
            dump | cmp - before && echo as before
            """#)
        #expect(
            text == """
                true
                1
                60
                as before

                """)
    }

    @Test("doctor says which file is in use, and what to do, until they cannot differ")
    func examined() throws {
        let text = try shell.run(
            #"""
            examine() { $KCBACKUP doctor 2>&1 >/dev/null | sed -n '/two files/,/adds/p; /gone/p' | shown; echo; }
            diverge
            examine
            touch $new.later $old.migrated
            examine
            rm $new
            examine
            """#)
        #expect(
            text == """
                kcbackup: warning: keyring 'Login' has two files, of which the first is in use:
                  '~/.local/share/keyrings/login.keyring' of GNOME Keyring (14 items, changed …)
                  '~/.local/share/keyrings/v1/login.keyring' of oo7 (14 items, changed …)
                  'kcbackup diff ~/.local/share/keyrings/login.keyring ~/.local/share/keyrings/v1/login.keyring' compares them
                  'kcbackup import ~/.local/share/keyrings/v1/login.keyring --into secret-service:Login' adds what the other one has; move that one away then


                kcbackup: warning: oo7 has converted keyring '~/.local/share/keyrings/login.keyring', and its own file of it is gone


                """)
    }
}
