package resp

// busy is for decisions for which there is no place in flight.
const busy = "BUSY this server has more requests than it takes; try again after a second, or raise limits.in_flight"

// enter takes a place in flight, if this session has none yet and there is one.
func (s *session) enter() bool {
	if !s.placed {
		places := s.door.options.Places
		s.placed = places == nil || places.Enter()
	}
	return s.placed
}

// leave gives the place back.
func (s *session) leave() {
	if s.placed && s.door.options.Places != nil {
		s.door.options.Places.Leave()
	}
	s.placed = false
}
