# Coverage over thousands of draws takes minutes; `make check` leaves it out.
set(calibrate_slow "Validity.*:Weights.Keep*")
