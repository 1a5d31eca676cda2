/*
 * Forks: a replica is copied, or a backup of it is restored, and both write on under one origin. The hash chain alone has to
 * show it; the nonce beside the keyring is left out. README.md says in words what is checked and how far; change-log.md
 * ("Hash chain") and sync-file.md ("Checks") hold the rules.
 *
 * Replica 0 and its copy 1 write as origin A, replica 2 as B, replica 3 as C. A restored backup is a copy beside which 0 does
 * nothing more. All stops when someone reports a fork. Bounds: WRITES transactions in all, FILES delayed ones, HANDOVERS.
 * Planted faults: NO_CHAIN, BARE_VECTOR, OWN_UNCHECKED.
 */
#ifndef WRITES
#define WRITES 3
#endif
#ifndef FILES
#define FILES 1
#endif
#ifndef HANDOVERS
#define HANDOVERS 3
#endif
/* ONLY=n leaves the other properties out, to see what one of them finds alone. */
#ifdef ONLY
#define CHECK(property, condition) assert(property != ONLY || (condition))
#else
#define CHECK(property, condition) assert(condition)
#endif
#define REPLICAS 4
#define MEMBERS 3
#define COPY 1

/*
 * A transaction is one bit: A:1 and A:2 of replica 0, A:1 and A:2 of the copy, B:1, C:1. A set of them says more than a
 * vector, which knows only numbers: NUMBERS takes the copy's for those of replica 0. IDS are all that bear a vector's numbers.
 */
#define TRANSACTIONS 6
#define BIT(t) (1 << (t))
#define NUMBERS(h) (((h) & 51) | (((h) >> 2) & 3))
#define IDS(v) ((v) | (((v) & 3) << 2))
#define COVERS(v, w) (((w) & ~(v)) == 0)
/* Two different transactions under one number, one here and one there. */
#define FORKED(h, k) (((h) & 3 & ((k) >> 2)) | ((k) & 3 & ((h) >> 2)))
#define MEMBER(r) ((r) < 2 -> 0 : (r) - 1)
#define OF_MEMBER(m) ((m) == 0 -> 3 : 8 << (m))
#define IS_SECOND(t) ((t) == 1 || (t) == 3)

byte context[TRANSACTIONS];   /* by numbers */
byte before[TRANSACTIONS];    /* the transaction the chain of an A:2 goes back to */
byte writes, files, handovers;
bool copied, reported;

typedef Replica {
  byte held;
  byte log;
  byte staged;
  byte forgotten;             /* the greatest frontier so far, by numbers */
  byte newest[MEMBERS];       /* what each member said it holds; the chain at its head shows which of two it is */
  byte counted[MEMBERS]
}
Replica replica[REPLICAS];

typedef File { byte sender; byte carried; byte start; byte stated[MEMBERS] }
File delayed;
hidden File fresh;

hidden byte i, j, m, t, q, who, target, round, stated, frontier;
hidden byte again, forked;

#define ME replica[r]
#define VECTOR(r) NUMBERS(replica[r].held)
/* The last of A that a set names: the chain there. */
#define HEAD(h) (((h) & 10) -> (h) & 10 : (h) & 5)
/* The chains of A still known: in the log and at the head. */
#define CHAINS(r) (ME.held & 15 & (ME.log | HEAD(ME.held)))

inline apply(r, t) {
  ME.held = ME.held | BIT(t);
  ME.log = ME.log | BIT(t)
}

inline commit(r) {
  if
  :: r > COPY -> t = r + 2
  :: else -> t = (r == COPY -> 2 : 0) + (VECTOR(r) & 1)
  fi;
  context[t] = VECTOR(r); before[t] = (IS_SECOND(t) -> ME.held & 5 : 0);
  writes++;
  apply(r, t)
}

/* For member m: what it is not known to hold. Of a range of A that begins at A:2 the header has the chain before it. */
inline export(r, m, f) {
  f.sender = r;
  f.carried = ME.log & ~IDS(NUMBERS(ME.newest[m]));
  f.start = ((f.carried & 10) && !(f.carried & 5) -> ME.held & 5 : 0);
  i = 0;
  do
  :: i < MEMBERS -> f.stated[i] = (i == MEMBER(r) -> ME.held : ME.newest[i]); i++
  :: else -> break
  od
}

#ifdef BARE_VECTOR
#define STATED_CHAIN(h) 0
#else
#define STATED_CHAIN(h) HEAD(h)
#endif

/* Others hold more of its own origin than it does itself: so it is a copy. */
#ifdef OWN_UNCHECKED
#define UNKNOWN_TO_ITSELF(r, h) false
#else
#define UNKNOWN_TO_ITSELF(r, h) ((r) <= COPY && !COVERS(VECTOR(r), NUMBERS(h) & OF_MEMBER(0)))
#endif

/* Applies what is staged in any order that contexts and numbers allow. */
inline applyStaged(r) {
  again = true;
  do
  :: again ->
    again = false; j = 0;
    do
    :: j < TRANSACTIONS ->
      if
      :: (ME.staged & BIT(j)) && !(NUMBERS(BIT(j)) & VECTOR(r)) && COVERS(VECTOR(r), context[j]) ->
#ifndef NO_CHAIN
        if
        :: before[j] & ~ME.held -> ME.staged = ME.staged & ~BIT(j)   /* its sender had another history */
        :: else -> apply(r, j); again = true
        fi
#else
        apply(r, j); again = true
#endif
      :: else
      fi;
      j++
    :: else -> break
    od
  :: else -> break
  od;
  ME.staged = ME.staged & ~IDS(VECTOR(r))
}

inline forget(r) {
  frontier = VECTOR(r); m = 0;
  do
  :: m < MEMBERS ->
    if
    :: m != MEMBER(r) -> frontier = frontier & NUMBERS(ME.counted[m])
    :: else
    fi;
    m++
  :: else -> break
  od;
  ME.forgotten = ME.forgotten | frontier;
  ME.log = ME.log & ~IDS(frontier)
}

inline takeStatements(r, f) {
  m = 0;
  do
  :: m < MEMBERS ->
    if
    :: m != MEMBER(r) && COVERS(NUMBERS(f.stated[m]), NUMBERS(ME.newest[m])) -> ME.newest[m] = f.stated[m]
    :: else
    fi;
    if
    :: COVERS(VECTOR(r), NUMBERS(ME.newest[m]) & OF_MEMBER(m)) -> ME.counted[m] = ME.newest[m]
    :: else
    fi;
    m++
  :: else -> break
  od
}

/* A fork is seen when the file has a chain that is not the one known here; the file is refused then. */
inline import(r, f) {
  forked = false; m = 0;
#ifndef NO_CHAIN
  stated = (f.carried & 15) | f.start;
  forked = (FORKED(stated, CHAINS(r)) != 0);
  do
  :: m < MEMBERS ->
    forked = forked || FORKED(STATED_CHAIN(f.stated[m]), CHAINS(r)) || UNKNOWN_TO_ITSELF(r, f.stated[m]);
    m++
  :: else -> break
  od;
#endif
  if
  :: !forked ->
    ME.staged = ME.staged | (f.carried & ~IDS(VECTOR(r)));
    applyStaged(r); takeStatements(r, f); forget(r)
  :: else -> reported = true
  fi
}

/* Everyone hands everyone a file, again and again. Then no two transactions are applied under one number, or someone has
   reported it. */
inline settle() {
  round = 0;
  do
  :: round < 3 && !reported ->
    who = 0;
    do
    :: who < REPLICAS ->
      target = 0;
      do
      :: target < REPLICAS ->
        if
        :: target != who && (copied || (who != COPY && target != COPY)) && !reported ->
          q = MEMBER(target);
          export(who, q, fresh); import(target, fresh)
        :: else
        fi;
        target++
      :: else -> break
      od;
      who++
    :: else -> break
    od;
    round++
  :: else -> break
  od;
  stated = replica[0].held | replica[1].held | replica[2].held | replica[3].held;
  CHECK(3, reported || !FORKED(stated, stated))
}

#define IS_THERE(r) ((r) != COPY || copied)
#define CAN_WRITE(r) (IS_THERE(r) && \
  ((r) > COPY -> !(replica[r].held & BIT((r) + 2)) : !(VECTOR(r) & 2)))

active proctype group() {
  byte taker, giver;
end:
  do
  :: reported -> break
  :: atomic { !reported && writes < WRITES && (CAN_WRITE(0) || CAN_WRITE(1) || CAN_WRITE(2) || CAN_WRITE(3)) ->
       if :: CAN_WRITE(0) -> taker = 0 :: CAN_WRITE(1) -> taker = 1 :: CAN_WRITE(2) -> taker = 2 :: CAN_WRITE(3) -> taker = 3 fi;
       d_step { printf("%d writes\n", taker); commit(taker); taker = 0 }
     }
  :: d_step { !reported && !copied ->
       printf("1 is copied from 0\n");
       copied = true;
       replica[1].held = replica[0].held; replica[1].log = replica[0].log; replica[1].staged = replica[0].staged;
       replica[1].forgotten = replica[0].forgotten; i = 0;
       do
       :: i < MEMBERS ->
         replica[1].newest[i] = replica[0].newest[i]; replica[1].counted[i] = replica[0].counted[i]; i++
       :: else -> break
       od;
       i = 0
     }
  :: atomic { !reported && files < FILES ->
       if :: giver = 0 :: IS_THERE(1) -> giver = 1 :: giver = 2 :: giver = 3 fi;
       if :: taker = 0 :: taker = 1 :: taker = 2 fi;
       d_step { printf("%d exports a file for member %d\n", giver, taker); export(giver, taker, delayed); files++; giver = 0; taker = 0 }
     }
  :: atomic { !reported && files > 0 ->
       if :: taker = 0 :: IS_THERE(1) -> taker = 1 :: taker = 2 :: taker = 3 fi;
       d_step { printf("%d imports the file of %d\n", taker, delayed.sender); import(taker, delayed); taker = 0 }
     }
  :: atomic { !reported && handovers < HANDOVERS ->
       if :: giver = 0 :: IS_THERE(1) -> giver = 1 :: giver = 2 :: giver = 3 fi;
       if :: giver != 0 -> taker = 0 :: giver != 1 && IS_THERE(1) -> taker = 1 :: giver != 2 -> taker = 2 :: giver != 3 -> taker = 3 fi;
       d_step {
         printf("%d hands over to %d\n", giver, taker);
         q = MEMBER(taker); export(giver, q, fresh); import(taker, fresh); handovers++; taker = 0; giver = 0
       }
     }
  :: d_step { !reported -> printf("all is handed over\n"); settle(); i = 0 } -> break
  od
}
