"""What programs said: lines of libraries, kernels, watchdogs and servers, with the parts that matter taken out."""
