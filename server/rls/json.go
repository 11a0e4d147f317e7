package rls

import (
	"errors"
	"io"
	"net/http"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
)

// JSON answers requests that come as JSON: 200 if they may pass, 429 if not, 400 if they
// make no sense, 503 if they could not be decided. maxBody bounds them.
func (s *Service) JSON(maxBody int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			plain(w, http.StatusMethodNotAllowed, "send a POST")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			plain(w, http.StatusRequestEntityTooLarge, "the body is too long")
			return
		}
		request := new(pb.RateLimitRequest)
		if err == nil {
			err = protojson.Unmarshal(body, request)
		}
		if err != nil {
			plain(w, http.StatusBadRequest, "this is no RateLimitRequest: "+err.Error())
			return
		}
		response, err := s.ShouldRateLimit(r.Context(), request)
		if err != nil {
			plain(w, httpStatus(err), status.Convert(err).Message())
			return
		}
		text, err := protojson.Marshal(response)
		if err != nil {
			plain(w, http.StatusInternalServerError, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if response.GetOverallCode() == pb.RateLimitResponse_OVER_LIMIT {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = w.Write(text)
	})
}

func httpStatus(err error) int {
	if status.Code(err) == codes.InvalidArgument {
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

func plain(w http.ResponseWriter, code int, text string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n")
}
