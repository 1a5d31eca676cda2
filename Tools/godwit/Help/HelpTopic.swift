/// What `godwit help` says of subjects that concern several commands, in lines of 80 columns.
enum HelpTopic {
  static let formats = """
    FORMATS

    .godwit/             A replica. `database` is a SQLite database encrypted by
                         SQLCipher; `keyring` has its key and this machine's
                         identity, each encrypted to the slots that open it.
                         Beside them lie an anchor, by which a copy is known for
                         one, and what is on its way to remotes.
    FILE from export     A sync file: an age v1 file (age-encryption.org), sealed
                         to the group's members, with transactions that its
                         sender has signed. `godwit inspect FILE` shows what is in
                         it and imports nothing. Without Godwit: age -d, with the
                         key that `godwit identity export-age-key` writes (age 1.3
                         for a post-quantum group), gives the container, whose
                         bytes Specs/sync-file.md names.
    FILE from            The same with the whole state, for a replica that lacks
      export --state     what all others have forgotten.
    NAME.godwit-invitation
                         What `member add` writes for a newcomer and `join` reads.
                         It opens for that machine alone.
    godwit1…             An identity: public keys with their proof. It is no
                         secret; compare fingerprints all the same.
    FILE from backup     A whole replica. One secret of its keyring opens it.
    FILE from            A SQLite database WITHOUT encryption, for other programs.
      export --plaintext

    All of them name their version, and what is newer is refused by name. Each is
    specified to the byte in Specs/, with test vectors. --json prints one object a
    line; Specs/cli has a schema for each command.

    See also: godwit help keys, godwit inspect --help, godwit verify --help

    """

  static let keys = """
    KEYS

    The database's key is random and lies in the keyring. The keyring opens with any
    one of its slots, and a slot needs one secret or two:

      machine-key        a file: machine.key in the replica's folder, where a
                         program made it; else ~/.config/godwit/machine.key
      passphrase         typed, or from a file
      recovery-code      printed once, for a drawer or a password manager
      credential         of systemd (systemd-creds), for services
      command            whatever a program of yours prints

    godwit keyring list            what opens it; needs no key
    godwit keyring add recovery-code
    godwit keyring test            which of them fit now
    godwit keyring remove LABEL    also takes a new master key
    godwit rekey                   a new key for the database itself
    godwit identity rotate         new keys for what others seal to this machine

    No option, argument or variable takes a secret; they name where it is:

      --machine-key FILE             GODWIT_MACHINE_KEY
      --passphrase-file FILE         GODWIT_PASSPHRASE_FILE
      --recovery-code-file FILE
      --credential NAME              GODWIT_CREDENTIAL
      --key-command COMMAND          GODWIT_KEY_COMMAND
      --keyring FILE                 GODWIT_KEYRING

    Lose every slot and the data is gone: nobody has another key. So keep a recovery
    code away from the machine, or a second member.

    See also: godwit help formats, godwit keyring --help

    """

  static let sync = """
    HOW CHANGES REACH OTHERS

    By files that you carry. Each is for all members, and may come late, twice or in
    any order:
      godwit export changes.sync            godwit import changes.sync
      godwit export - | ssh desk godwit -C notes import -

    By a place that all reach. Nothing runs there, and whoever owns it reads nothing:
      godwit remote add stick /media/stick/godwit
      godwit remote add cloud s3://bucket/folder
      godwit remote add desk ssh://desk/home/me/notes
      godwit sync                           godwit sync --watch

    Keys to a bucket come from the environment or from ~/.aws, as for any other
    program; `godwit remote test NAME` says whether they and the place will do.

    What two members wrote without knowing of each other merges by one rule
    everywhere, and what lost is kept:
      godwit conflicts                      godwit why TABLE KEY

    Nothing is forgotten before every member has it. Who was away for longer, or came
    back from an old backup, is asked to rejoin, and loses nothing of its own:
      godwit sync --rejoin

    Exit codes for scripts: 0 done; 4 something waits for what has not come; 16 the
    other side cannot be reached, try later; 17 it refuses, change something first.

    See also: godwit help keys, godwit status, godwit missing --help

    """
}
