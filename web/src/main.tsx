import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { asProblem } from "./api/problem";
import { SignedIn } from "./layout/SignedIn";
import { applyTheme } from "./layout/theme";
import { router } from "./router";
import "./tokens.css";
import "./base.css";

applyTheme();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something is not as it was; what nobody says anything of is looked at again after a while.
      staleTime: 30_000,
      retry: (count, error) => asProblem(error).isPassing && count < 4,
      refetchOnWindowFocus: false,
    },
    mutations: { retry: false },
  },
});

const place = document.getElementById("console");
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <SignedIn>
          <RouterProvider router={router} />
        </SignedIn>
      </QueryClientProvider>
    </StrictMode>,
  );
}
