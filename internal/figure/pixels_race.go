//go:build race

package figure

// The race detector makes every pixel slow, and tests of learning draw many charts.
const pixels = 18 // per inch, of PNG
