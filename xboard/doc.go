// Package xboard has the Chess Engine Communication Protocol (CECP) of XBoard and
// WinBoard, version 2: its text, read and written, and the side of a program that
// runs engines. Package xboard/server is the engine's side.
//
// [Client] starts an engine as a child process and plays with it as a game.Player.
// Every wait on the engine has a deadline, as in package uci; what can go wrong has
// its sentinel errors in package internal/engine.
//
// Moves are written as e2e4, e7e8q, e1g1 and P@e4, to an engine that asks for it in
// standard algebraic notation; both are read. Crazyhouse positions have the hands in
// brackets, as in [chess.ParseFEN]. An engine that does not understand them is told
// the hands by the command "holding". Which way it understands is tried before the
// first such position, by dropping a pawn.
//
// The protocol is described in Tim Mann's and H. G. Muller's "Chess Engine
// Communication Protocol".
package xboard
