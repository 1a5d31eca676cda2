/*
 * Replication without forks: vectors, gaps, staging, acknowledgements, the frontier, forgetting, and a member that is
 * retired and comes back. README.md says in words what is checked and how far; change-log.md and merge.md hold the rules.
 *
 * Replicas 0, 1 and 2 form the group. 2 may be retired, and 3 is then its next incarnation. One process takes all steps,
 * each of them atomic, as an import or a commit is one database transaction.
 *
 * Bounds: WRITES transactions in all, PER by each origin. RETIRE=1 lets replica 2 be retired and come back; BARRIER=1, without
 * that, lets programs be upgraded over a migration that others must not run before (Specs/migrations.md, "Barriers hold").
 * FILES files are delayed, HANDOVERS are handed over at once; settle() adds as many as are needed.
 * Planted faults: EARLY_ACKNOWLEDGEMENT, ONE_MEMBER_FRONTIER, GAP_ACCEPTED; with RETIRE=1 also NO_FENCE, RETIRED_AT_ONCE,
 * STATE_FIRST, EARLY_STATE, STAGED_KEPT; with BARRIER=1 also BARRIER_ADOPTED, HELD_ACKNOWLEDGED, HELD_NOT_PASSED_ON.
 */
#ifndef WRITES
#define WRITES 4
#endif
#ifndef RETIRE
#define RETIRE 0
#endif
#ifndef BARRIER
#define BARRIER 0
#endif
#ifndef FILES
#define FILES 1
#endif
#ifndef HANDOVERS
#define HANDOVERS 4
#endif
/* ONLY=n leaves the other properties out, to see what one of them finds alone. */
#ifdef ONLY
#define CHECK(property, condition) assert(property != ONLY || (condition))
#else
#define CHECK(property, condition) assert(condition)
#endif
#define PER 2
#define REPLICAS 4
#define RETIREE 2
#define COMEBACK 3

/*
 * A vector is the set of the transactions it covers: sequence 0 is 00, sequence 1 is 01, sequence 2 is 11, at the origin's
 * place. So the pointwise least of two vectors is &, the greatest is |, and a transaction is one bit.
 */
#define Vector byte
#define DOT(o, s) ((o) * PER + (s) - 1)
#define ORIGIN(t) ((t) / PER)
#define BIT(t) (1 << (t))
#define ALL_OF(o) (((1 << PER) - 1) << ((o) * PER))
#define COVERS(v, w) (((w) & ~(v)) == 0)
#define TRANSACTIONS (REPLICAS * PER)

/* The transactions, as their authors wrote them. What the transaction had in its past is `context`. */
Vector context[TRANSACTIONS];
byte hlc[TRANSACTIONS];
Vector deletes;   /* those that delete the row; the others write its cell */
Vector inserts;   /* those whose author saw no row */
Vector late;      /* those that were written after the barrier */
byte writes;

/* The roster as bits: what a replica knows of replica 2. */
#define RETIRED 1
#define RETURNED 2

/* What a member said it held, with the roster it knew then: both stand in the header of a file. */
typedef Statement { Vector held; byte roster }

typedef Replica {
  Vector vector;
  Vector applied;     /* what really was applied; differs from the vector when a gap was accepted */
  Vector log;
  Vector staged;
  Vector forgotten;   /* the greatest frontier so far */
  bool upgraded;      /* the barrier has run here */
  byte roster;
  Statement newest[REPLICAS];    /* of each member */
  Statement counted[REPLICAS];   /* of each member, the newest that counts */
  /* One row with one cell. */
  bool base;          /* it was written by something forgotten */
  Vector touches;
  Vector marks;       /* deletes, with their contexts */
  byte cell;          /* 1 + the transaction that wrote it, 0 for the value all began with */
  bool stamped        /* the cell's stamp is still known */
}
Replica replica[REPLICAS];

typedef File { byte sender; Vector carried; byte roster; Statement stated[REPLICAS] }
File delayed;         /* a file on its way: delayed, doubled, overtaken, lost when another takes its place */
hidden File fresh;    /* a file that is handed over at once */
byte files, handovers;
bool retired, returned;

/* Scratch, meaningless between steps. */
hidden byte i, j, n, m, t, who, target, from, round;
hidden Vector seen, frontier;
Vector unsent;        /* what 2 alone had when it came back */
hidden byte again, living, other;

#define ME replica[r]
#define ROW_KNOWN(r) (replica[r].base || replica[r].touches || replica[r].marks)
/* Whether the tables here are of the transaction's version, or a later one. */
#define REACHED(r, t) (replica[r].upgraded || !(late & BIT(t)))
#define LATER(a, b) (hlc[a] > hlc[b] || (hlc[a] == hlc[b] && (a) > (b)))

/* living := whether some write to the row is in no delete's context. */
inline judgeRow(r, living) {
  seen = 0; i = 0;
  do
  :: i < TRANSACTIONS ->
    if
    :: ME.marks & BIT(i) -> seen = seen | context[i]
    :: else
    fi;
    i++
  :: else -> break
  od;
  living = (ME.touches & ~seen) != 0 || (ME.base && ME.marks == 0)
}

inline apply(r, t) {
  /* It is concurrent with nothing forgotten, and an edit or a delete finds its row. */
  CHECK(2, COVERS(context[t], ME.forgotten));
  CHECK(2, (inserts & BIT(t)) || ROW_KNOWN(r));
  CHECK(5, REACHED(r, t));
  ME.applied = ME.applied | BIT(t);
  ME.log = ME.log | BIT(t);
  ME.vector = ME.vector | (ALL_OF(ORIGIN(t)) & ((BIT(t) << 1) - 1));
  if
  :: deletes & BIT(t) -> ME.marks = ME.marks | BIT(t)
  :: else ->
    ME.touches = ME.touches | BIT(t);
    if
    :: !ME.stamped || LATER(t, ME.cell - 1) -> ME.cell = t + 1; ME.stamped = true
    :: else
    fi
  fi
}

/* A local commit. The row is deleted, edited, or inserted when it is not there. */
inline commit(r, isDelete) {
  judgeRow(r, living);
  n = 0; i = 0;
  do
  :: i < TRANSACTIONS ->
    if
    :: (ME.vector & BIT(i)) && hlc[i] > n -> n = hlc[i]
    :: else
    fi;
    i++
  :: else -> break
  od;
  t = DOT(r, 1);
  do
  :: ME.vector & BIT(t) -> t++
  :: else -> break
  od;
  context[t] = ME.vector; hlc[t] = n + 1; writes++;
  if
  :: ME.upgraded -> late = late | BIT(t)
  :: else
  fi;
  if
  :: isDelete -> deletes = deletes | BIT(t)
  :: !isDelete && !living -> inserts = inserts | BIT(t)
  :: else
  fi;
  apply(r, t)
}

#ifdef BARRIER_ADOPTED
#define READY(r, t) COVERS(ME.vector, WAITS_FOR(t))
#else
#define READY(r, t) (COVERS(ME.vector, WAITS_FOR(t)) && REACHED(r, t))
#endif
#ifdef GAP_ACCEPTED
#define WAITS_FOR(t) (context[t] & ~ALL_OF(ORIGIN(t)))
#else
#define WAITS_FOR(t) context[t]
#endif

inline applyStaged(r) {
  again = true;
  do
  :: again ->
    again = false; j = 0;
    do
    :: j < TRANSACTIONS ->
      if
      :: (ME.staged & BIT(j)) && READY(r, j) -> apply(r, j); again = true
      :: else
      fi;
      ME.staged = ME.staged & ~ME.vector;
      j++
    :: else -> break
    od
  :: else -> break
  od
}

/* Whether the acknowledgements of member m that count here were made knowing that 2 is retired, and what they say of 2 is here. */
#define SETTLED_BY(r, m) ((replica[r].counted[m].roster & RETIRED) && \
  COVERS(replica[r].vector, replica[r].counted[m].held & ALL_OF(RETIREE)))
#define SETTLED(r) ((r == 0 || SETTLED_BY(r, 0)) && (r == 1 || SETTLED_BY(r, 1)) && \
  (r == COMEBACK || !(ME.roster & RETURNED) || SETTLED_BY(r, COMEBACK)))
#ifdef RETIRED_AT_ONCE
#define LEFT(r) (ME.roster & RETIRED)
#else
#define LEFT(r) ((ME.roster & RETIRED) && SETTLED(r))
#endif
/* Whether m counts for the frontier of r. */
#define COUNTS(r, m) (m < RETIREE || (m == RETIREE && !LEFT(r)) || (m == COMEBACK && (ME.roster & RETURNED)))
/* Whether m can still make others apply what it writes: 2 can, until everyone knows of its retirement. */
#define HEARD_OF_RETIREMENT (replica[0].roster & replica[1].roster & RETIRED)
#define SPEAKS(m) (m < RETIREE || (m == RETIREE && !HEARD_OF_RETIREMENT) || (m == COMEBACK && returned))

/* Forgets what is at or below the frontier: log entries, marks of a living row, a dead row whole, touches, stamps. */
inline forget(r) {
  frontier = ME.vector; m = 0;
  do
  :: m < REPLICAS ->
    if
#ifdef ONE_MEMBER_FRONTIER
    :: m != r && m == from -> frontier = frontier & ME.counted[m].held
#else
    :: m != r && COUNTS(r, m) -> frontier = frontier & ME.counted[m].held
#endif
    :: else
    fi;
    m++
  :: else -> break
  od;
  /* No other member lacks it. */
  m = 0;
  do
  :: m < REPLICAS ->
    CHECK(2, !SPEAKS(m) || COVERS(replica[m].applied, frontier));
    m++
  :: else -> break
  od;
  ME.forgotten = ME.forgotten | frontier;
  ME.log = ME.log & ~frontier;
  judgeRow(r, living);
  if
  :: !living && COVERS(frontier, ME.marks | ME.touches) ->
    ME.base = false; ME.touches = 0; ME.marks = 0; ME.cell = 0; ME.stamped = false
  :: else ->
    if
    :: living -> ME.marks = ME.marks & ~frontier
    :: else
    fi;
    if
    :: ME.marks == 0 && (ME.touches & frontier) -> ME.base = true; ME.touches = ME.touches & ~frontier
    :: else
    fi;
    if
    :: ME.stamped && (BIT(ME.cell) & (frontier << 1)) -> ME.stamped = false
    :: else
    fi
  fi
}

/* What a file carries: all of the log, as a relay does; only the sender's latest, as if files before it were lost; nothing. */
mtype = { everything, latest, nothing }

/* What waits here and follows on what is applied without a gap; PER is 2. */
#define FIRSTS 85
#define HELD(r) ((ME.staged & FIRSTS) | (ME.staged & (((ME.vector | ME.staged) & FIRSTS) << 1)))
#ifdef HELD_ACKNOWLEDGED
#define STATED(r) (ME.vector | HELD(r))
#else
#define STATED(r) ME.vector
#endif
/* What waits for the barrier is passed on. */
#if BARRIER && !defined(HELD_NOT_PASSED_ON)
#define PASSED_ON(r) (ME.log | HELD(r))
#else
#define PASSED_ON(r) ME.log
#endif

inline export(r, f, what) {
  f.sender = r; f.roster = ME.roster;
  n = (ME.vector & ALL_OF(r));
  f.carried = (what == everything -> PASSED_ON(r) : (what == latest -> (ME.log & n & ~(n >> 1)) : 0));
  i = 0;
  do
  :: i < REPLICAS ->
    f.stated[i].held = (i == r -> STATED(r) : ME.newest[i].held);
    f.stated[i].roster = (i == r -> ME.roster : ME.newest[i].roster);
    i++
  :: else -> break
  od
}

#ifdef NO_FENCE
#define FENCED(r, f) false
#else
#define FENCED(r, f) ((f.sender == RETIREE && (ME.roster & RETIRED)) || (r == RETIREE && (f.roster & RETIRED)))
#endif

/* A statement counts once its member's own transactions up to it are here. */
#ifdef EARLY_ACKNOWLEDGEMENT
#define TAKEN_AS_COUNTING(r, m) true
#else
#define TAKEN_AS_COUNTING(r, m) COVERS(ME.vector, ME.newest[m].held & ALL_OF(m))
#endif

/* Who learns of the retirement drops what is staged of 2: what another member holds comes again, the rest 2 itself still has. */
inline takeRoster(r, known) {
#ifndef STAGED_KEPT
  if
  :: !(ME.roster & RETIRED) && (known & RETIRED) -> ME.staged = ME.staged & ~ALL_OF(RETIREE)
  :: else
  fi;
#endif
  ME.roster = ME.roster | known
}

inline import(r, f) {
  if
  :: FENCED(r, f)
  :: else ->
    from = f.sender;
    takeRoster(r, f.roster);
    ME.staged = ME.staged | (f.carried & ~ME.vector);
    applyStaged(r);
    m = 0;
    do
    :: m < REPLICAS ->
      if
      :: m != r ->
        if
        :: COVERS(f.stated[m].held, ME.newest[m].held) && COVERS(f.stated[m].roster, ME.newest[m].roster) ->
          ME.newest[m].held = f.stated[m].held; ME.newest[m].roster = f.stated[m].roster
        :: else
        fi;
        if
        :: TAKEN_AS_COUNTING(r, m) ->
          ME.counted[m].held = ME.newest[m].held; ME.counted[m].roster = ME.newest[m].roster
        :: else
        fi
      :: else
      fi;
      m++
    :: else -> break
    od;
    forget(r)
  fi
}

/* What a program sees: whether the row is there, and its cell. */
inline compareRows(r, q) {
  judgeRow(r, living); judgeRow(q, other);
  CHECK(4, living == other && (!living || replica[r].cell == replica[q].cell))
}

#define TAKES_PART(m) (m < RETIREE || (m == RETIREE && !retired) || (m == COMEBACK && returned))

/* At any time equal vectors give equal rows. */
inline compareAll() {
  who = 0;
  do
  :: who < REPLICAS ->
    n = who + 1;
    do
    :: n < REPLICAS ->
      if
      :: TAKES_PART(who) && TAKES_PART(n) && replica[who].vector == replica[n].vector -> compareRows(who, n)
      :: else
      fi;
      n++
    :: else -> break
    od;
    who++
  :: else -> break
  od
}

/* Files go round a circle. Then everyone holds everything, whoever has run the barrier. */
inline circle() {
  round = 0;
  do
  :: round < 3 * RETIREE ->
    who = round % (RETIREE + 1);
    export(who, fresh, everything);
    target = (who + 1) % (RETIREE + 1);
    import(target, fresh);
    round++
  :: else -> break
  od;
  who = 0;
  do
  :: who <= RETIREE ->
    CHECK(6, (replica[who].vector | replica[who].staged) == (replica[0].vector | replica[0].staged));
    who++
  :: else -> break
  od
}

inline upgrade(r) {
  ME.upgraded = true;
  applyStaged(r)
}

/* Everyone hands everyone a file, again and again, until all that can arrive has arrived. */
inline settle() {
#if BARRIER
  circle();
  upgrade(0); upgrade(1); upgrade(2);
#endif
  round = 0;
  do
  :: round < 4 ->
    who = 0;
    do
    :: who < REPLICAS && TAKES_PART(who) ->
      export(who, fresh, everything);
      target = 0;
      do
      :: target < REPLICAS ->
        if
        :: target != who && TAKES_PART(target) -> import(target, fresh)
        :: else
        fi;
        target++
      :: else -> break
      od;
      who++
    :: who < REPLICAS && !TAKES_PART(who) -> who++
    :: else -> break
    od;
    round++
  :: else -> break
  od;
  who = 1;
  do
  :: who < REPLICAS ->
    if
    :: TAKES_PART(who) ->
      /* Everyone has everything and really applied it; what 2 wrote again is nowhere twice; nothing is kept for ever. */
      CHECK(1, replica[who].vector == replica[0].vector);
      CHECK(1, replica[who].applied == replica[0].vector);
      CHECK(1, (replica[who].vector & unsent) == 0);
      CHECK(1, replica[who].log == 0 && replica[who].staged == 0);
      compareRows(who, 0)
    :: else
    fi;
    who++
  :: else -> break
  od
}

/* Replica 2 comes back from a state file of r as a new incarnation, and writes again what it alone had. */
inline comeBack(r) {
#ifndef STATE_FIRST
  ME.roster = ME.roster | RETURNED;   /* before the state file is taken */
#endif
  returned = true;
  replica[COMEBACK].vector = ME.vector; replica[COMEBACK].applied = ME.applied;
  replica[COMEBACK].forgotten = ME.forgotten; replica[COMEBACK].roster = ME.roster | RETURNED;
  replica[COMEBACK].base = ME.base; replica[COMEBACK].touches = ME.touches; replica[COMEBACK].marks = ME.marks;
  replica[COMEBACK].cell = ME.cell; replica[COMEBACK].stamped = ME.stamped;
  unsent = replica[RETIREE].vector & ALL_OF(RETIREE) & ~ME.vector;
  j = 0;
  do
  :: j < TRANSACTIONS ->
    if
    :: unsent & BIT(j) ->
      judgeRow(COMEBACK, living);
      if
      :: living -> commit(COMEBACK, ((deletes & BIT(j)) != 0))
      :: else /* it was deleted meanwhile: to the conflict log */
      fi
    :: else
    fi;
    j++
  :: else -> break
  od
}

/* A state file for 2's return has to hold all that any member took of 2, or 2 would write some of it twice. */
#ifdef EARLY_STATE
#define CAN_TAKE_BACK(r) (replica[r].roster & RETIRED)
#else
#define CAN_TAKE_BACK(r) ((replica[r].roster & RETIRED) && SETTLED_BY(r, 1 - r))
#endif

#define CAN_WRITE(r) ((r < RETIREE || (r == RETIREE && !returned) || (r == COMEBACK && returned)) && \
  !(replica[r].vector & BIT(DOT(r, PER))))

active proctype group() {
  byte r, s;
  i = 0;
  d_step { do :: i < REPLICAS -> replica[i].base = true; i++ :: else -> break od; i = 0 };
end:
  do
  :: atomic { writes < WRITES ->
       if :: CAN_WRITE(0) -> r = 0 :: CAN_WRITE(1) -> r = 1 :: CAN_WRITE(2) -> r = 2 :: CAN_WRITE(3) -> r = 3 fi;
       if
       :: d_step {
            judgeRow(r, living);
            if
            :: living -> printf("%d deletes the row\n", r); commit(r, true); compareAll()
            :: else
            fi;
            r = 0
          }
       :: d_step { printf("%d writes the row\n", r); commit(r, false); compareAll(); r = 0 }
       fi
     }
  :: atomic { files < FILES ->
       if :: s = 0 :: s = 1 :: !returned -> s = 2 :: returned -> s = 3 fi;
       if
       :: d_step { printf("%d exports: everything\n", s); export(s, delayed, everything); files++; s = 0 }
       :: d_step { printf("%d exports: latest\n", s); export(s, delayed, latest); files++; s = 0 }
       :: d_step { printf("%d exports: nothing\n", s); export(s, delayed, nothing); files++; s = 0 }
       fi
     }
  :: atomic { files > 0 ->
       if :: r = 0 :: r = 1 :: !returned -> r = 2 :: returned -> r = 3 fi;
       if
       :: d_step { r != delayed.sender -> printf("%d imports the file of %d\n", r, delayed.sender); import(r, delayed); compareAll(); r = 0 }
       :: r == delayed.sender -> r = 0
       fi
     }
  :: atomic { handovers < HANDOVERS ->
       if :: s = 0 :: s = 1 :: !returned -> s = 2 :: returned -> s = 3 fi;
       if :: s != 0 -> r = 0 :: s != 1 -> r = 1 :: s != 2 && !returned -> r = 2 :: s != 3 && returned -> r = 3 fi;
       d_step { printf("%d hands over to %d\n", s, r); export(s, fresh, everything); import(r, fresh); compareAll(); handovers++; r = 0; s = 0 }
     }
#if BARRIER
  :: atomic { !replica[0].upgraded || !replica[1].upgraded || !replica[2].upgraded ->
       if :: !replica[0].upgraded -> r = 0 :: !replica[1].upgraded -> r = 1 :: !replica[2].upgraded -> r = 2 fi;
       d_step { printf("%d is upgraded\n", r); upgrade(r); compareAll(); r = 0 }
     }
#endif
#if RETIRE
  :: d_step { !retired -> printf("0 retires 2\n"); retired = true; takeRoster(0, RETIRED) }
  :: atomic { retired && !returned && (CAN_TAKE_BACK(0) || CAN_TAKE_BACK(1)) ->
       if :: CAN_TAKE_BACK(0) -> r = 0 :: CAN_TAKE_BACK(1) -> r = 1 fi;
       d_step { printf("2 comes back from %d as 3\n", r); comeBack(r); compareAll(); r = 0 }
     }
#endif
  :: d_step { printf("all is handed over\n"); settle(); i = 0 } -> break
  od
}
