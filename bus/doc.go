// Package bus carries games, nets and pointers between the roles of a run.
// It is the only package that knows NATS: a JetStream server embedded in the
// process, or one somewhere else, reached by the same code.
//
// A Conn is a connection to a server. It has the registry of the server's runs,
// the bucket selfplay-runs, and joins any number of them. A Bus is one run on it;
// that of the id "demo" owns these objects on the server:
//
//	demo-games        stream      demo.game.<actor>, bundles of games
//	  ingest          consumer    durable pull, acknowledged up to a sequence
//	demo-rejects      stream      demo.reject, games that failed validation
//	OBJ_demo-nets     object store, name = SHA-256 of the content; other files too
//	KV_demo-ctl       key-value bucket, pointers and leases with 64 revisions each
//	KV_demo-roles     key-value bucket, processes that are there
//
// and the subjects demo.ask.<service>, of requests that are answered at once or
// not at all.
//
// What the pieces promise:
//
//   - Published games are on disk when PublishGames returns: the embedded
//     server syncs every write. A message published again within the duplicate
//     window is reported as a duplicate and not stored. The window is finite
//     and the server forgets it for purged messages, so what stores games for
//     good drops repeated ids itself.
//   - A full stream refuses games with ErrFull and loses none. Games leave
//     it when they are acknowledged, never before, and soon enough that a
//     stream full of acknowledged games does not stay full.
//   - A fetched game that is not acknowledged comes again.
//   - A server that finds a part of its store damaged drops messages. Games
//     goes on after them and reports the hole, and Floor says up to where a
//     game that is not stored by now will not come by itself.
//   - A net is never overwritten. Its content is checked against its id on
//     the way in and on the way out. The store of nets is bounded: a full one
//     refuses with ErrFull, and DeleteNet makes room.
//   - A pointer moves by compare-and-set; its history is the audit log.
//   - One process at a time holds a lease, and each holder has a higher fence.
//     Whatever clocks do, a former holder sets no pointer after its successor
//     has touched it: see Lease.
//   - A connection is tried for as long as Options.Patience says, with each
//     failure logged, and then with an error that says why; one that stood is
//     made again for ever. A server too old, or without JetStream, is refused
//     before anything else. Objects that a server lost are made again.
//   - Secrets come from files, and stand in no error and no log.
//
// Nothing here retries a publish: the caller keeps the game until it is
// acknowledged and knows best how long to wait. A request whose answer does
// not come within five seconds fails, whatever its context allows: the
// connection may have been lost under it. Transfers of nets and Games, which
// waits as long as its caller asks, are the exceptions.
package bus
