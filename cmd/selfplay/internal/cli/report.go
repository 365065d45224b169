package cli

import (
	"encoding/json"
	"io"
)

// WriteReport writes a report as one line of JSON, or by its method text.
func WriteReport(w io.Writer, asJSON bool, report any, text func(io.Writer) error) error {
	if asJSON {
		return json.NewEncoder(w).Encode(report)
	}
	return text(w)
}
