package builtin

// Split returns the bytes of a file at even places and behind them those at odd
// places. Most of a network are numbers of two bytes, whose upper ones are nearly
// all 0 or 255, so that it packs better when they stand together.
func Split(file []byte) []byte {
	out := make([]byte, 0, len(file))
	for first := range 2 {
		for i := first; i < len(file); i += 2 {
			out = append(out, file[i])
		}
	}
	return out
}

// join undoes Split.
func join(split []byte) []byte {
	out := make([]byte, len(split))
	half := (len(split) + 1) / 2
	for i, b := range split[:half] {
		out[2*i] = b
	}
	for i, b := range split[half:] {
		out[2*i+1] = b
	}
	return out
}
