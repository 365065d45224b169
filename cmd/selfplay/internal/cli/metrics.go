package cli

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/crazyhouse-rl/selfplay/observe"
)

// ServeMetrics serves on the address of --metrics, and says where; without one it
// returns nil, which serves nothing.
func ServeMetrics(address, build string, logger *slog.Logger) (*observe.Server, error) {
	s, err := observe.Listen(address, build)
	if errors.Is(err, observe.ErrAddress) {
		return nil, fmt.Errorf("%w: --%s: %w", ErrUsage, observe.Flag, err)
	}
	if err == nil && s != nil {
		logger.Info("serving metrics", "url", "http://"+s.Addr()+"/metrics")
	}
	return s, err
}
