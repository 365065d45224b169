// Package generate makes training data: a player plays games against itself, with
// a few random moves in each, and the games are written with marks on the
// positions to train on.
//
// # Games
//
// Games are numbered from 0. With a player that answers the same to the same, a
// game follows from the settings, the seed and its number alone, and files hold
// the games in the order of their numbers. So a file depends neither on how many
// games are played at a time nor on how often the run was interrupted.
//
// A game begins at the start position or where an opening ends. All plies in
// settings count from there. At some plies the move is drawn at random; at all
// others the player searches and its move is made. The game ends by the rules, by
// adjudication of scores, or as a draw at the last ply that may be written.
//
// # Positions
//
// A position serves for training unless its move was drawn, it is too early in
// the game, the side to move is in check, the game is as good as decided, the
// position is not quiet, or it came before. How quiet a position is only a
// [search.Quieter] says.
//
// # Files
//
// A .chain file has all plies of every game, the marks among them. Other formats
// have the positions to train on only, with scores in their own unit.
//
// A run that was stopped at any moment goes on where its files end. A .chain file
// says so itself: the id of a game is the run's and the number of the game. Beside
// files of other formats lies one named like the first with ".run" after it,
//
//	{"run":ID,"seed":N,"next":N,"positions":N,"file":N,"file_positions":N,"bytes":N}
//
// which is replaced whenever games have been written: next is the number of the
// next game, file that of the file being written and bytes its length; what is
// after that is cut off. Positions are counted over the whole run and in this
// file. Older builds called the latter filePositions.
package generate
