// Package sqllimit stands in front of a database: it wraps any database/sql
// driver and lets through what the database can take, whatever the services
// above it do.
//
//	db := sql.OpenDB(sqllimit.Wrap(connector,
//		sqllimit.WithInFlight(32),
//		sqllimit.WithLimit(sluice.PerSecond(500)),
//	))
//
// What is limited:
//
//   - In flight: a query holds its permit until its rows are closed or read to
//     the end, an exec until it returns, and preparing a statement until it is
//     prepared. A transaction holds one permit from Begin to Commit or Rollback,
//     and its statements need none, so that transactions that have begun never
//     wait for each other.
//   - Rate: every statement costs what its [Class] costs: a read 1, a write 2, and
//     a text of several statements what they cost together, up to what the rate can
//     admit at once. Preparing, transaction control and pings are free.
//
// The rate is asked last, with the permits in hand, and is spent in the moment in
// which the statement goes to the database. So in no span of time does the database
// see more than the rate admits, also not after a jam. Who is denied by the rate
// gives its permits back and waits with nothing in its hands.
//
// A statement that does not fit waits, first come first served, until its
// context ends and for [DefaultMaxWait] at most ([WithMaxWait]). Statements of
// transactions have a line of their own, so that they never stand behind one that
// waits for the permit of their transaction. One that is refused gets a
// *[LimitedError], which matches [sluice.ErrLimited] and never driver.ErrBadConn:
// database/sql does not repeat it. A wait that ends without success gives back all
// that it took. A store that fails or does not answer in time limits nobody: then
// the error says that the limit could not decide, and does not match ErrLimited.
//
// Nobody holds a permit for ever: it comes back when the driver fails or panics,
// when the context ends, and when the connection is closed. Giving back to a store
// holds up a statement that is done for 50 ms at most, and goes on in the background
// for a second; after that the permit ends by itself. What a driver did not
// run is not paid: after driver.ErrBadConn the cost is given back, and after
// driver.ErrSkip it goes to the statement that database/sql prepares instead.
//
// A permit of a [sluice.KeyedConcurrency] is lost if the store could not be reached
// for as long as the permit lives: then others may have it. What runs is not stopped.
// But before its next statement a transaction takes another permit, and that
// statement is refused if there is none in time; Commit and Rollback always pass.
//
// Who reads rows and runs other statements meanwhile, outside a transaction,
// holds two permits. With few permits and many who do so all may wait for each
// other until MaxWait ends; read the rows first, or use a transaction.
//
// The wrapped driver behaves to database/sql as the bare one does: it has the
// optional interfaces that the bare one has.
package sqllimit
