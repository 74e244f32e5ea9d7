/** The page /docs: Swagger UI over the service's OpenAPI document. */

SwaggerUIBundle({ url: "openapi.json", dom_id: "#reference", validatorUrl: null });
