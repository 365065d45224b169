package dash

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// answerWithin is how long a browser may take to receive an answer.
const answerWithin = 20 * time.Second

// policy lets the page use its own files and nothing else: no script in the page
// itself, no other host, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses what does not come from the page, and says to the browser what the page
// may do. Name is the host that the server was told to listen on.
func guard(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		asks := r.Method == http.MethodPost && (strings.HasPrefix(r.URL.Path, askPath) || strings.HasPrefix(r.URL.Path, controlPath))
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !asks:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "found method "+r.Method+", expected GET: the page only reads", http.StatusMethodNotAllowed)
		case !ownHost(r.Host, name):
			http.Error(w, "found a host name that is not this server's; use its address or localhost", http.StatusMisdirectedRequest)
		case !ownOrigin(r) || asks && r.Header.Get("Origin") == "":
			http.Error(w, "found a request of another page", http.StatusForbidden)
		default:
			// Failure only means that the connection cannot have deadlines, as in tests.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerWithin))
			next.ServeHTTP(w, r)
		}
	})
}

// ownHost reports whether a request names this server in a way that a foreign page
// cannot arrange. A page that has its own name resolved to this machine (DNS rebinding)
// sends that name; addresses and localhost no name server can give away.
func ownHost(host, name string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") || name != "" && strings.EqualFold(host, name)
}

// ownOrigin reports whether a request is the page's own, or a person's who opens it.
func ownOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	opened := site == "" || site == "same-origin" || site == "none"
	return opened || !strings.HasPrefix(r.URL.Path, "/api/") && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}
