//go:build !race

package figure

const pixels = 144 // per inch, of PNG
