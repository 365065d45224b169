// Package interop compares this program with other people's, as their users get
// them. Its tests need Node.js and an npm package, so they are built only with
// the tag interop; "make interop" fetches the package and runs them.
package interop
