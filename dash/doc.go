// Package dash is the page on which people watch a run: an HTTP server with the page,
// which is part of the program, and what it shows as JSON.
//
// The page only reads. It reads what the run writes into its directory anyway (events,
// games, logs of the gate, manifests of nets), each byte once, and only while somebody
// looks; in the process of the run it has the run's status too. Nothing in the run
// waits for it.
//
//	GET /                 the page
//	GET /assets/…         its scripts and styles
//	GET /api/state        State
//	GET /api/stream       State as server-sent events, whenever it has changed
//	GET /api/learning     Learning
//	GET /api/games        the newest games, Games
//	GET /api/games/{id}   one that is stored, Replayed; at=PLACE says where it was
//	GET /api/stored       a page of the stored games, Stored; before=PLACE the next
//	GET /api/nets         the nets on disk, Nets
//	GET /api/actors       who plays and works, Actors
//	GET /api/boards       the games of the actors, Boards
//	GET /api/neurons/{n}  a picture of a neuron of the net that is played with, SVG
//	GET /api/opponent     who plays against a person, Opponent
//	GET /api/comparison   Comparison, of the directory of one
//
// Who has the token may choose the net that the run plays with:
//
//	POST /api/control/promote, rollback   an Order; Done
//
// What is asked about a position is sent, as the game that led to it (Question), with the
// method POST. Nothing is written and nothing is kept from one question to the next.
//
//	POST /api/ask/position  the game so far, Table
//	POST /api/ask/move      the net's move, Reply
//	POST /api/ask/text      the game that a FEN or a PGN says, Told
//	POST /api/ask/analysis  lines, chances and threats, Analysis
//	POST /api/ask/inputs    what nets see of the position, Inputs
//
// The JSON is for the page of the same build and not versioned.
package dash
