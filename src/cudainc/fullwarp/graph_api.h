// The host runtime's graphs, stream capture, and interoperation with graphics and other processes. Declared only.
#pragma once

#define FW_API __host__ cudaError_t

FW_API cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
FW_API cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode);
FW_API cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
FW_API cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
FW_API cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                const cudaGraphNode_t** after = nullptr, const cudaGraphEdgeData** edges = nullptr,
                                size_t* count = nullptr);
FW_API cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after,
                                           const cudaGraphEdgeData* edges, size_t count, unsigned int flags = 0);
FW_API cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after, size_t count,
                                           unsigned int flags = 0);

FW_API cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
FW_API cudaGraphDestroy(cudaGraph_t graph);
FW_API cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
FW_API cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0);
FW_API cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* bad, char* log, size_t bytes);
FW_API cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0);
FW_API cudaGraphExecDestroy(cudaGraphExec_t exec);
FW_API cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info);
FW_API cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* bad,
                           cudaGraphExecUpdateResult* result);
FW_API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* p);
FW_API cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
FW_API cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
FW_API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
FW_API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
FW_API cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
FW_API cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags);
FW_API cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                size_t count);
FW_API cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                const cudaGraphEdgeData* edges, size_t count);
FW_API cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                        cudaGraphNodeParams* p);
FW_API cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                        const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* p);
FW_API cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count);
FW_API cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                              const cudaKernelNodeParams* p);
FW_API cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                              const cudaMemcpy3DParms* p);
FW_API cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
FW_API cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                              const cudaMemsetParams* p);
FW_API cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                            const cudaHostNodeParams* p);
FW_API cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count, cudaGraph_t child);
FW_API cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                cudaMemAllocNodeParams* p);
FW_API cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                               void* p);
FW_API cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                        unsigned int value = 0, unsigned int flags = 0);
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
FW_API cudaDeviceGraphMemTrim(int device);
FW_API cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value);
FW_API cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value);

FW_API cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
FW_API cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned int flags);
FW_API cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream = 0);
FW_API cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream = 0);
FW_API cudaGraphicsResourceGetMappedPointer(void** p, size_t* bytes, cudaGraphicsResource_t resource);
FW_API cudaGraphicsSubResourceGetMappedArray(cudaArray_t* array, cudaGraphicsResource_t resource, unsigned int index,
                                             unsigned int level);

#undef FW_API
