package replay

// Live tells what a server said when the log was sent to it, beside what was predicted.
type Live struct {
	Target    string  `json:"target"`
	Speed     float64 `json:"speed"`
	Sent      int64   `json:"sent"`
	Allowed   int64   `json:"allowed"`
	Denied    int64   `json:"denied"` // answered 429
	Failed    int64   `json:"failed"` // no answer, or none that says either
	Error     string  `json:"error,omitempty"`
	Dropped   int64   `json:"dropped"` // not sent: too many were under way
	Predicted int64   `json:"predicted_denied"`
	Equal     int64   `json:"equal"` // decided as predicted
	OnlyLive  int64   `json:"only_live_denied"`
	OnlyHere  int64   `json:"only_predicted_denied"`
	MaxLag    Seconds `json:"max_lag"` // how late a request was sent at most
}
